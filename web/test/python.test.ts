import { describe, expect, it } from "vitest";
import { Highlighter, tokenize } from "../src/model/python";

const kinds = (text: string) => tokenize(text, "").tokens.filter(([kind]) => kind);

describe("the colours of Python", () => {
  it("tell words, strings, numbers and comments apart", () => {
    expect(kinds("def f(x): return rb'a\\'b' + 0x1F  # def")).toEqual([
      ["keyword", "def"],
      ["name", "f"],
      ["keyword", "return"],
      ["string", "rb'a\\'b'"],
      ["number", "0x1F"],
      ["comment", "# def"],
    ]);
    expect(kinds("@app.route('/')")[0]).toEqual(["decorator", "@app.route"]);
    expect(kinds("definition = import_x")).toEqual([]);
  });

  it("lose no character", () => {
    for (const text of ["x = 'open", "\t  f\"{a!r:>{w}}\" \\", "é = λ @ b", "'''", ""])
      expect(tokenize(text, "").tokens.map(([, token]) => token).join("")).toBe(text);
  });

  it("know strings over many lines", () => {
    const lines = new Highlighter(['x = """one', "def two", 'three""" + y', "for z in y:"]);
    expect(lines.tokens(1)).toEqual([["string", "def two"]]);
    expect(lines.tokens(2)[0]).toEqual(["string", 'three"""']);
    expect(lines.tokens(3)[0]).toEqual(["keyword", "for"]);
  });

  it("come to an end with a line that is data", () => {
    for (const text of [`x = "${"\\".repeat(20_000)}`, "[".repeat(20_000) + "0.".repeat(20_000)])
      expect(tokenize(text, "").tokens.map(([, token]) => token).join("")).toBe(text);
  });
});
