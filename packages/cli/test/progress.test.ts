import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { createProgress } from "../src/progress.ts";
import { bytesText, countText, durationText } from "../src/quantities.ts";

test("outside a terminal a line says what is done, and not every time", () => {
  const output = new PassThrough();
  const progress = createProgress(output, false);
  for (let value = 0; value < 1000; value++) progress.update("fetching x", value * 1e5, 1e8, "bytes");
  progress.note("a note");
  progress.update("building", 3, 12, "steps");
  progress.stop();
  assert.equal(String(output.read()), "fetching x: 0 % of 100 MB\na note\nbuilding: 25 % of 12 steps\n");
});

test("on a terminal there is a bar, which goes away from a note", () => {
  const output = Object.assign(new PassThrough(), {
    isTTY: true,
    columns: 80,
    cursorTo: () => true,
    clearLine: () => true,
  });
  const progress = createProgress(output, false);
  progress.update("fetching x", 25, 100, "bytes");
  progress.note("a note");
  progress.stop();
  const written = String(output.read());
  assert.match(written, /fetching x █+░+ +25 %/);
  assert.match(written, /\na note\n/);
});

test("with --json there is neither", () => {
  const output = new PassThrough();
  const progress = createProgress(output, true);
  progress.update("x", 1, 2, "steps");
  progress.note("y");
  assert.equal(output.read(), null);
});

test("quantities are written for people", () => {
  assert.deepEqual([0, 999, 1000, 98_362_432, 253_113_024, 25.3e9].map(bytesText), [
    "0 bytes",
    "999 bytes",
    "1.0 kB",
    "98.4 MB",
    "253 MB",
    "25.3 GB",
  ]);
  assert.deepEqual([0, 999, 1000, 1_234_567].map(countText), ["0", "999", "1,000", "1,234,567"]);
  assert.deepEqual([12.4, 999, 2412, 65_000].map(durationText), ["12 ms", "999 ms", "2.4 s", "1 min 05 s"]);
});
