import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { PastedLines, withBreaks } from "../src/pasted-lines.ts";

/** What readline gets of pieces of input, with the line breaks back where they were pasted. */
function through(...pieces: string[]): string {
  const lines = new PastedLines(new PassThrough());
  let out = "";
  lines.on("data", (piece) => (out += piece));
  for (const piece of pieces) lines.write(piece);
  return out
    .split("\r")
    .map((line) => withBreaks(line))
    .join("\r");
}

test("keys go through as they are", () => {
  for (const keys of ["a", "\r", "\x1b[A", "\x1b", "\x03", "é", "\n", "\t", "\r\n"])
    assert.equal(through(keys), keys);
});

test("what the terminal says is pasted is one line, without its last line breaks, however it is cut", () => {
  const pasted = "\x1b[200~one\r\ntwo\n\nthree\n\x1b[201~";
  assert.equal(through(pasted, "\r"), "one\ntwo\n\nthree\r");
  for (let at = 1; at < pasted.length; at++) {
    const [first, rest] = [pasted.slice(0, at), pasted.slice(at)];
    // An escape alone, and one with a bracket, are keys.
    if (first.endsWith("\x1b") || first.endsWith("\x1b[")) continue;
    assert.equal(through(first, rest, "\r"), "one\ntwo\n\nthree\r", `cut at ${at}`);
  }
});

test("without the terminal's word, a piece that goes on behind a line break was pasted", () => {
  assert.equal(through("one\rtwo\r"), "one\ntwo\r");
  assert.equal(through("one\ntwo"), "one\ntwo");
  assert.equal(through("one\r", "two\r"), "one\rtwo\r");
});
