"""The data of a page from a recording, for tests and screenshots before `sonde report` can be asked: make_data.py FILE [PAGE OUT].

Tables come from `sonde export --format json` (SONDE names the program); the rest from the file itself.
"""

import base64
import gzip
import json
import os
import re
import sqlite3
import subprocess
import sys
import zlib

SONDE = os.environ.get("SONDE", "sonde")
VIEWS = """lines tree memory leaks copies footprint owners sizes timeline regions ops functions callers callees
signatures threads counters graph""".split()
UNITS = {"bytes/s": "rate"}
SHOWN, MAIN = 1, 2


def varints(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value = shift = 0


def deltas(values):
    return [value - before for value, before in zip(values, [0, *values])]


def export(path, view, kind, *more):
    command = [SONDE, "export", path, "--format", kind, "--view", view, *more]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def table(path, view, variant=""):
    more = [f"--{variant.replace('_', '-')}"] if variant else []
    text = export(path, view, "json", *more)
    if text is None:
        return None
    answer = json.loads(text)
    html = export(path, view, "html", *more) or ""
    titles = re.findall(r'<th scope="col"[^>]*>([^<]*)', html)
    columns = []
    for column in answer["columns"]:
        title = re.sub(r"_(ns|bytes)$", "", column["name"]).replace("_percent", " %").replace("_", " ")
        is_shown = any(title.replace(" %", "").endswith(t.replace(" %", "")) for t in titles) or "percent" not in title
        traits = SHOWN * is_shown | MAIN * (column["name"] in ("name", "function", "source") and view != "lines")
        columns.append({"name": column["name"], "title": title, "unit": UNITS.get(column["unit"], column["unit"]), "traits": traits})
        if column["name"] == "timeline":
            columns[-1]["unit"] = "spark"
    names = [column["name"] for column in columns]
    rows = answer["rows"]
    is_tree = bool(rows) and "depth" in rows[0]
    return {
        "view": view,
        "variant": variant,
        "is_tree": is_tree,
        "columns": columns,
        "depths": [row["depth"] for row in rows] if is_tree else None,
        "rows": [[row[name] for name in names] for row in rows],
        "footer": "",
    }


def events(db, kind_of_node, track_of_node):
    blocks = {"samples": [], "spans": []}
    for (data,) in db.execute("select data from timeline order by id"):
        start, numbers = 0, varints(zlib.decompress(data))
        for node, task, delta, value in zip(numbers, numbers, numbers, numbers):
            start += delta >> 1 ^ -(delta & 1)
            kind = kind_of_node[node]
            if kind != "counter":
                name = "samples" if kind in ("line", "native", "other") else "spans"
                blocks[name].append((track_of_node[node], start, -value, node, task))
    return [block(name, found) for name, found in blocks.items() if found]


def block(name, found):
    found.sort()
    unit = 10000 if name == "samples" else 1
    out = {"kind": name, "unit_ns": unit, "gap": [], "value": [], "node": [], "task": []}
    last, end = None, 0
    for track, start, value, node, task in found:
        if track != last:
            last, end = track, 0
        begin, length = round(start / unit), round(-value / unit)
        out["gap"].append(begin - end)
        out["value"].append(length)
        out["node"].append(node)
        out["task"].append(task)
        end = begin + length
    return out


def make(path):
    db = sqlite3.connect(path)
    db.row_factory = sqlite3.Row
    texts = {"": 0}

    def text(value):
        return texts.setdefault(value or "", len(texts))

    infos = dict(db.execute("select key, value from info").fetchall())
    sites = db.execute("select * from site order by id").fetchall()
    kinds = list(dict.fromkeys(site["kind"] for site in sites))
    nodes = db.execute("select * from node order by id").fetchall()
    kind_of_node = [sites[node["site"]]["kind"] for node in nodes]
    metrics = {}
    query = "select name, node, value from value join metric on metric.id = metric order by name, node"
    for name, node, value in db.execute(query):
        metrics.setdefault(name, ([], []))
        metrics[name][0].append(node)
        metrics[name][1].append(value)
    library = [folder for folder in infos.get("library_paths", "").split("\n") if folder]
    folder = os.path.dirname(infos.get("program_path", "")) or "/nowhere"
    files = {site["file"] for site in sites if site["kind"] == "line"}
    own = [f for f in files if f.startswith(folder + "/") or not (f.startswith("<") or any(f.startswith(p) for p in library))]
    series = {}
    for name, unit, at, value in db.execute("select name, unit, at_ns, value from series order by name, at_ns"):
        series.setdefault(name, (unit, [], []))
        series[name][1].append(at)
        series[name][2].append(value)
    histories = db.execute("select node, points from history order by node").fetchall()
    tables = [table(path, view) for view in VIEWS] + [table(path, "ops", v) for v in ("by_shape", "by_line")]
    return {
        "version": 1,
        "infos": infos,
        "kinds": kinds,
        "metric_units": dict(db.execute("select name, unit from metric").fetchall()),
        "sites": {
            "kind": [kinds.index(site["kind"]) for site in sites],
            **{key: [text(site[key]) for site in sites] for key in ("name", "file", "detail")},
            **{key: [site[key] or 0 for site in sites] for key in ("line", "first_line")},
        },
        "tracks": [dict(row) for row in db.execute("select name, process_id, thread_id, start_ns, end_ns from track order by id")],
        "nodes": {
            "parent": [-1 if node["parent"] is None else node["parent"] for node in nodes],
            "track": [node["track"] for node in nodes],
            "site": [node["site"] for node in nodes],
        },
        "metrics": {name: {"node": deltas(at), "value": values} for name, (at, values) in metrics.items()},
        "sources": [
            {"file": text(file), "text": zlib.decompress(data).decode("utf-8", "replace")}
            for file, data in db.execute("select file, text from source")
        ],
        "own_files": [text(file) for file in own],
        "series": [{"name": n, "unit": u, "at_ns": deltas(at), "value": v} for n, (u, at, v) in series.items()],
        "histories": {
            "step_ns": int(infos.get("history_step_ns", 0)),
            "node": deltas([row["node"] for row in histories]),
            "live": [list(varints(row["points"]))[0::3] for row in histories],
        },
        "events": events(db, kind_of_node, [node["track"] for node in nodes]) or None,
        "tables": [found for found in tables if found],
        "pruned": None,
        "texts": list(texts),
    }


def embed(page, recordings):
    scripts = []
    for number, data in enumerate(recordings, 1):
        packed = base64.b64encode(gzip.compress(json.dumps(data).encode())).decode()
        name = "sonde-data" if number == 1 else f"sonde-data-{number}"
        scripts.append(f'<script id="{name}" type="application/octet-stream">{packed}</script>')
    return page.replace("<!--sonde-data-->", "\n".join(scripts))


if __name__ == "__main__":
    *recordings, page, out = sys.argv[1:] if len(sys.argv) > 2 else [sys.argv[1], "", ""]
    made = [make(path) for path in recordings]
    if page:
        with open(page) as template, open(out, "w") as file:
            file.write(embed(template.read(), made))
    else:
        json.dump(made[0], sys.stdout)
