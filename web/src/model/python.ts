// The colours of Python: enough of its grammar to tell strings, comments, keywords, numbers and definitions apart.

export type TokenKind = "" | "keyword" | "string" | "comment" | "number" | "name" | "decorator";
export type Token = readonly [kind: TokenKind, text: string];

const KEYWORDS = new Set(
  ("and as assert async await break case class continue def del elif else except finally for from global if import in is " +
    "lambda match nonlocal not or pass raise return try while with yield None True False self cls").split(" "),
);
const PIECE =
  /(#.*)|([rbfuRBFU]{0,2}(?:"""|'''))|([rbfuRBFU]{0,2}"(?:[^"\\]|\\.)*"?|[rbfuRBFU]{0,2}'(?:[^'\\]|\\.)*'?)|(\b(?:0[xXoObB][\da-fA-F_]+|\d[\d_]*\.?[\d_]*(?:[eE][+-]?\d+)?j?)\b)|(^\s*@[\w.]+)|([^\W\d]\w*)/y;

/** Where a string with three quotes that starts in `text` ends; the length of the text when it goes on. */
function endOfLong(text: string, from: number, quotes: string): { end: number; isOpen: boolean } {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text.startsWith(quotes, at)) return { end: at + 3, isOpen: false };
  }
  return { end: text.length, isOpen: true };
}

function wordKind(word: string, before: string): TokenKind {
  if (KEYWORDS.has(word)) return "keyword";
  return before === "def" || before === "class" ? "name" : "";
}

/** The tokens of a line that starts inside a string with these quotes ("": it does not), and how the next one starts. */
export function tokenize(text: string, quotes: string): { tokens: Token[]; quotes: string } {
  const tokens: Token[] = [];
  let at = 0;
  let word = "";
  const put = (kind: TokenKind, end: number) => {
    if (end > at) tokens.push([kind, text.slice(at, end)]);
    at = end;
  };
  if (quotes) {
    const { end, isOpen } = endOfLong(text, 0, quotes);
    put("string", end);
    if (isOpen) return { tokens, quotes };
  }
  while (at < text.length) {
    PIECE.lastIndex = at;
    const match = PIECE.exec(text);
    if (!match) {
      put("", at + 1);
      continue;
    }
    const end = PIECE.lastIndex;
    if (match[2]) {
      const long = endOfLong(text, end, match[2].slice(-3));
      put("string", long.end);
      if (long.isOpen) return { tokens, quotes: match[2].slice(-3) };
    } else if (match[6]) {
      put(wordKind(match[6], word), end);
      word = match[6];
    } else put(match[1] ? "comment" : match[3] ? "string" : match[4] ? "number" : "decorator", end);
  }
  return { tokens: merge(tokens), quotes: "" };
}

function merge(tokens: Token[]): Token[] {
  const merged: [TokenKind, string][] = [];
  for (const [kind, text] of tokens) {
    const last = merged.at(-1);
    if (last && last[0] === kind) last[1] += text;
    else merged.push([kind, text]);
  }
  return merged;
}

/** The tokens of lines of one file, made when they are asked for; strings over many lines are known from the start. */
export class Highlighter {
  private readonly starts: string[] = [""];

  constructor(private readonly lines: readonly string[]) {}

  tokens(line: number): Token[] {
    while (this.starts.length <= line) {
      const at = this.starts.length - 1;
      this.starts.push(tokenize(this.lines[at] ?? "", this.starts[at]).quotes);
    }
    return tokenize(this.lines[line] ?? "", this.starts[line]).tokens;
  }
}
