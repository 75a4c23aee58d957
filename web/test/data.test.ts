import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { decode, undelta, unpack } from "../src/data";
import { tinyRaw } from "./tiny";

describe("the data of a page", () => {
  it("adds differences up", () => {
    expect([...undelta([5, 1, -2], new Float64Array(3))]).toEqual([5, 6, 4]);
  });

  it("is read from base64 of gzip of JSON", async () => {
    const text = gzipSync(JSON.stringify(tinyRaw())).toString("base64");
    const recording = await unpack(`\n${text}\n`);
    expect(recording.texts[3]).toBe("work");
    expect([...recording.metrics.get("python")!.node]).toEqual([1, 2, 6]);
    expect([...recording.series[0].at_ns]).toEqual([0, 10, 20]);
    expect([...recording.histories.live.keys()]).toEqual([2, 3]);
    expect(recording.sources.get("/p/a.py")![1]).toBe("    x = 1");
  });

  it("has the samples before the spans, in nanoseconds", () => {
    const events = decode(tinyRaw()).events!;
    expect(events.sample_count).toBe(4);
    expect([...events.start]).toEqual([0, 10e6, 50e6, 0, 10e6, 10e6]);
    expect([...events.value]).toEqual([10e6, 30e6, 20e6, 7e6, 20e6, 5e6]);
  });

  it("of another version is refused with a sentence", () => {
    expect(() => decode({ ...tinyRaw(), version: 2 })).toThrow("version 1, not 2");
  });

  it("knows why a source is not there", () => {
    const raw = tinyRaw();
    const found = decode({ ...raw, sources: [{ file: 2, missing: "the file was changed" }] });
    expect([...found.sources.keys()]).toEqual([]);
    expect(found.missing).toEqual(new Map([[raw.texts[2], "the file was changed"]]));
    expect(decode(raw).missing.size).toBe(0);
  });

  it("without events has none", () => {
    expect(decode({ ...tinyRaw(), events: null }).events).toBeNull();
    expect(decode({ ...tinyRaw(), events: [] }).events).toBeNull();
  });
});
