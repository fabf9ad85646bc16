import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { libraryUnderTest, picoModel } from "./engine-under-test.ts";

const libraryPath = await libraryUnderTest();
const model = picoModel;
const program = fileURLToPath(new URL("threads-program.ts", import.meta.url));
const tasksetWorks = ((): boolean => {
  try {
    execFileSync("taskset", ["-c", "0", "true"]);
    return true;
  } catch {
    return false;
  }
})();

async function run(prefix: string[]) {
  const [command = "", ...rest] = [
    ...prefix,
    ...[process.execPath, "--conditions=source", "--import", "tsx", program, model, libraryPath],
  ];
  const { stdout } = await promisify(execFile)(command, rest);
  return JSON.parse(stdout) as { threads: number; threadsReason: string; before: number; after: number };
}

describe("threads", {
  skip: tasksetWorks ? false : "taskset cannot set the affinity on this machine",
}, () => {
  test("follow the processors that the process may use, and end with their context", async () => {
    const { threads, threadsReason, before, after } = await run(["taskset", "-c", "0"]);
    assert.equal(threads, 1);
    assert.match(threadsReason, /^1 in the process's affinity|quota/);
    // one context stays warm: 19 more threads than its own at most, not the 190 of all numbers
    assert.ok(after <= before + 20, `${before} before, ${after} after`);
  });
});
