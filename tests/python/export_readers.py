"""Readers of the files that ``sonde export`` writes, from the descriptions of their formats; no code of sonde's."""

import gzip
import json
import marshal
import re
import struct
from collections import Counter
from pathlib import Path


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def message(data: bytes) -> list[tuple[int, object]]:
    """The fields of a message of Protocol Buffers: number and value, bytes where it may be a message."""
    fields, at = [], 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        else:
            assert key & 7 == 2
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
            assert len(value) == size
        fields.append((key >> 3, value))
    return fields


def one(fields, number, default=0):
    return dict(fields).get(number, default)


def numbers(data: bytes) -> list[int]:
    found, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        found.append(value)
    return found


class Pprof:
    """https://github.com/google/pprof/blob/main/proto/profile.proto"""

    def __init__(self, path: Path) -> None:
        fields = message(gzip.decompress(path.read_bytes()))
        self.fields = fields
        self.texts = [value.decode() for number, value in fields if number == 6]
        assert self.texts[0] == "" and len(set(self.texts)) == len(self.texts)
        kinds = [message(value) for number, value in fields if number == 1]
        self.types = [(self.texts[one(kind, 1)], self.texts[one(kind, 2)]) for kind in kinds]
        functions = [message(value) for number, value in fields if number == 5]
        self.functions = {one(f, 1): (self.texts[one(f, 2)], self.texts[one(f, 4, 0)], one(f, 5)) for f in functions}
        locations = [message(value) for number, value in fields if number == 4]
        self.locations = {one(place, 1): message(one(place, 4)) for place in locations}
        assert len(self.functions) == len(functions) and len(self.locations) == len(locations)
        self.samples = []
        for number, value in fields:
            if number == 2:
                sample = message(value)
                labels = [message(label) for field, label in sample if field == 3]
                self.samples.append((numbers(one(sample, 1)), numbers(one(sample, 2)), labels))

    def stack(self, locations):
        """Functions, innermost first."""
        return [self.functions[one(self.locations[place], 1)] for place in locations]

    def sums(self) -> dict[str, int]:
        total = Counter()
        for locations, values, _ in self.samples:
            assert locations and all(place in self.locations for place in locations)
            assert len(values) == len(self.types)
            for (name, _), value in zip(self.types, values, strict=True):
                total[name] += value
        return dict(total)

    def label(self, name):
        """The values of a label, added up by the first type."""
        found = Counter()
        for _, values, labels in self.samples:
            for label in labels:
                if self.texts[one(label, 1)] == name:
                    found[self.texts[one(label, 2)] or one(label, 3)] += values[0]
        return found


def callgrind(path: Path):
    """https://valgrind.org/docs/manual/cl-format.html: the events, what functions cost, and their calls."""
    names = {"file": {}, "function": {}}

    def name(kind, text):
        found = re.fullmatch(r"\((\d+)\)(?: (.*))?", text)
        if found[2] is not None:
            assert found[1] not in names[kind]
            names[kind][found[1]] = found[2]
        return names[kind][found[1]]

    events, own, calls, place, called, file, summary = [], {}, {}, None, None, None, None
    for line in path.read_text().splitlines():
        key, _, rest = line.partition("=")
        if line.startswith("events: "):
            events = line.split()[1:]
        elif line.startswith(("summary: ", "totals: ")):
            summary = [int(word) for word in line.split()[1:]]
        elif key == "fl":
            file = name("file", rest)
        elif key == "fn":
            place = (file, name("function", rest))
        elif key == "cfi":
            target_file = name("file", rest)
        elif key == "cfn":
            target = (target_file, name("function", rest))
        elif key == "calls":
            called = int(rest.split()[0])
        elif re.match(r"\d+( \d+)+$", line) and place is not None:
            costs = [int(word) for word in line.split()[1:]]
            assert len(costs) == len(events)
            if called is None:
                own.setdefault(place, [0] * len(events))
                own[place] = [a + b for a, b in zip(own[place], costs, strict=True)]
            else:
                calls.setdefault((place, target), [0] * (len(events) + 1))
                calls[place, target] = [a + b for a, b in zip(calls[place, target], [called, *costs], strict=True)]
                called = None
    assert summary == [sum(costs[i] for costs in own.values()) for i in range(len(events))]
    return events, own, calls


def perfetto(path: Path):
    """Slices by track and name (count, ns), and the values of counters. protos/perfetto/trace/*.proto"""
    names, tracks, slices, counters, events = {}, {}, {}, {}, []
    for number, packet in message(path.read_bytes()):
        fields = message(packet)
        assert number == 1 and one(fields, 10) == 1
        if one(fields, 12, None) is not None:
            for kind, value in message(one(fields, 12)):
                if kind == 2:
                    names[one(message(value), 1)] = one(message(value), 2, b"").decode()
        if one(fields, 60, None) is not None:
            track = message(one(fields, 60))
            thread = message(one(track, 4, b""))
            tracks[one(track, 1)] = (one(track, 2, b"") or one(thread, 5, b"")).decode()
        if one(fields, 11, None) is not None:
            event = message(one(fields, 11))
            events.append((one(fields, 8), one(event, 9), one(event, 11), names.get(one(event, 10)), one(event, 44)))
    open_slices = {}
    for at, kind, track, name, value in sorted(events, key=lambda event: event[0]):  # stable, as Perfetto sorts
        if kind == 1:
            open_slices.setdefault(track, []).append((name, at))
        elif kind == 2:
            name, start = open_slices[track].pop()
            count, ns = slices.get((tracks[track], name), (0, 0))
            slices[tracks[track], name] = (count + 1, ns + at - start)
        else:
            assert kind == 4
            counters.setdefault(tracks[track], []).append(value)
    assert not any(open_slices.values())
    return slices, counters


def chrome(path: Path):
    """Slices by thread's id and name: count and ns."""
    slices = {}
    for event in json.loads(path.read_text())["traceEvents"]:
        if event["ph"] == "X":
            count, ns = slices.get((event["tid"], event["name"]), (0, 0))
            slices[event["tid"], event["name"]] = (count + 1, ns + round(event["dur"] * 1000))
    return slices


def collapsed(path: Path) -> dict[tuple[str, ...], int]:
    lines = path.read_text().splitlines()
    assert lines == sorted(set(lines), key=lines.index)
    return {tuple(stack.split(";")): int(number) for stack, _, number in (line.rpartition(" ") for line in lines)}


def speedscope_sum(path: Path, with_empty: bool) -> int:
    """Of the profiles in sum, if there are others in the order of time."""
    profiles = json.loads(path.read_text())["profiles"]
    sums = [profile for profile in profiles if profile["name"].endswith(" (sums)")] or profiles
    return sum(
        weight
        for profile in sums
        for sample, weight in zip(profile["samples"], profile["weights"], strict=True)
        if sample or with_empty
    )


def pstats(path: Path):
    stats = marshal.loads(path.read_bytes())
    for (file, line, name), (primitive, count, self_s, total_s, callers) in stats.items():
        assert isinstance(file, str) and isinstance(line, int) and isinstance(name, str)
        assert 0 <= primitive <= count and self_s >= 0 and total_s >= 0
        assert all(caller in stats and len(numbers) == 4 for caller, numbers in callers.items())
    return stats
