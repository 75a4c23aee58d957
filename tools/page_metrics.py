#!/usr/bin/env python3
"""Writes web/src/model/metrics.ts, the list of src/model/metric.h for the report page.

`tools/page_metrics.py` writes the file; tools/build_page.py builds no page with a stale one.
"""

import re
from pathlib import Path

ENTRY = re.compile(r'X\((\w+), "(\w+)", "(\w*)", [01], (\w+), \w+,\s')
STATES = re.compile(r"SND_SAMPLE_STATES \(SND_METRIC_(\w+) - SND_METRIC_(\w+) \+ 1\)")


def module(web: Path) -> tuple[Path, str]:
    """Where the module belongs, and its text."""
    header = (web.parent / "src/model/metric.h").read_text().replace("\\\n", "\n")
    found = ENTRY.findall(header)
    ids = [metric_id for metric_id, *_ in found]
    last, first = STATES.findall(header)[0]
    rules = sorted({f'"{rule.lower()}"' for *_, rule in found})
    # Nearly all are sums: the page is small.
    lines = [
        f'  {name}: ["{unit}"],\n' if rule == "SUM" else f'  {name}: ["{unit}", "{rule.lower()}"],\n'
        for _, name, unit, rule in found
    ]
    return web / "src/model/metrics.ts", (
        "// What is counted. Written by tools/page_metrics.py from src/model/metric.h, which says what each is.\n\n"
        "/** How the numbers of several nodes become one. Of a metric without a rule, they are added up. */\n"
        f"export type Rule = {' | '.join(rules)};\n\n"
        "export const METRICS: Readonly<Record<string, readonly [unit: string, rule?: Rule]>> = {\n"
        f"{''.join(lines)}}};\n\n"
        "/** What a sampled thread did, in the order of an event's `task`; each is a metric of its own. */\n"
        f"export const STATES = Object.keys(METRICS).slice({ids.index(first)}, {ids.index(last) + 1});\n"
    )


if __name__ == "__main__":
    path, text = module(Path(__file__).parents[1] / "web")
    path.write_text(text)
