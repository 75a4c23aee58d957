import { describe, expect, it } from "vitest";
import { readHash, START, writeHash, type State } from "../src/state";

describe("the address", () => {
  it("keeps every state", () => {
    const state: State = {
      view: "lines",
      selection: { name: "f<&=#>\u202e🙂", file: "/a b/c.py", line: 3 },
      thread: 2,
      range: [1500, 2_000_000_000],
      search: "x y&z",
      options: { "flame.order": "time", "lines.sort": "-self_ns" },
    };
    expect(readHash("#" + writeHash(state))).toEqual(state);
  });

  it("of the start is empty", () => {
    expect(writeHash(START)).toBe("");
    expect(readHash("")).toEqual(START);
  });

  it("passes over what makes no sense", () => {
    expect(readHash("#t=-4&r=9-2&l=x&n=f&v=lines")).toEqual({ ...START, view: "lines", selection: { name: "f", file: "", line: 0 } });
    expect(readHash("#t=1e9x&r=a-b&%%%")).toMatchObject({ thread: -1, range: null });
  });
});
