import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runProgram } from "./run-program.ts";

describe("calibrate on the command line", () => {
  it("says what it needs", async () => {
    const { status, err } = await runProgram(["calibrate"]);
    assert.equal(status, 2);
    assert.match(err, /calibrate needs a model/);
  });

  it("refuses numbers out of range and flags of other commands", async () => {
    assert.match((await runProgram(["calibrate", "m.gguf", "--tokens", "3"])).err, /--tokens is "3"/);
    assert.match(
      (await runProgram(["calibrate", "m.gguf", "--kv-map", "off"])).err,
      /--kv-map is not a flag of calibrate/,
    );
  });

  it("tells a model that is not there", async () => {
    const { status, err } = await runProgram(["calibrate", "./nowhere.gguf"]);
    assert.equal(status, 1);
    assert.match(err, /MODEL_NOT_FOUND/);
  });
});
