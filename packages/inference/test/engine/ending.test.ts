import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { libraryUnderTest, picoModel } from "./engine-under-test.ts";

const libraryPath = await libraryUnderTest();
const model = picoModel;
const program = fileURLToPath(new URL("ending-program.ts", import.meta.url));

interface End {
  code: number | null;
  signal: string | null;
  output: string;
  errors: string;
}

function run(way: string): Promise<End> {
  const child = spawn(
    process.execPath,
    ["--conditions=source", "--import", "tsx", program, model, libraryPath, way],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  const end = { output: "", errors: "" };
  child.stdout.on("data", (bytes) => {
    end.output += bytes;
  });
  child.stderr.on("data", (bytes) => {
    end.errors += bytes;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, ...end }));
  });
}

describe("a process that ends in the middle of a generation", () => {
  // before, most of these were segmentation faults, some of them now and then
  for (const [way, code, signal, rounds] of [
    ["one next", 0, null, 4],
    ["exit", 7, null, 4],
    ["exit in a prompt", 7, null, 3],
    ["exit while loading", 7, null, 3],
    ["exit in a calibration", 7, null, 3],
    ["uncaught", 1, null, 3],
    ["SIGTERM", null, "SIGTERM", 2],
    ["SIGINT handled", 130, null, 2],
    ["terminate", 0, null, 4],
  ] as const) {
    test(`ends as it should: ${way}`, async () => {
      for (let round = 0; round < rounds; round++) {
        const end = await run(way);
        assert.deepEqual([end.code, end.signal], [code, signal], `round ${round}: ${end.errors}`);
        if (way === "uncaught") assert.match(end.errors, /on purpose/);
      }
    });
  }

  test("workers that are terminated take their models with them, and the process goes on", async () => {
    const end = await run("terminate again");
    assert.deepEqual([end.code, end.signal], [0, null], end.errors);
    assert.match(end.output, /goes on/);
  });
});
