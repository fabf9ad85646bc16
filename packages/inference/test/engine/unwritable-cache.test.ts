import assert from "node:assert/strict";
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { calibrate, Inference, InferenceError } from "../../src/index.ts";
import { libraryUnderTest, picoModel } from "./engine-under-test.ts";

const libraryPath = await libraryUnderTest();

describe("cache folders that cannot be written", () => {
  let folder = "";
  let model = "";
  const kept = { cache: process.env.ELIZA_INFERENCE_CACHE, data: process.env.XDG_DATA_HOME };
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "unwritable-"));
    model = join(folder, "model.gguf");
    await copyFile(picoModel, model);
    // A file where the folder should be stops root too, whom permissions do not.
    await writeFile(join(folder, "file"), "");
    process.env.ELIZA_INFERENCE_CACHE = join(folder, "file", "cache");
    process.env.XDG_DATA_HOME = join(folder, "file", "data");
  });
  after(async () => {
    for (const [name, value] of [
      ["ELIZA_INFERENCE_CACHE", kept.cache],
      ["XDG_DATA_HOME", kept.data],
    ] as const) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await rm(folder, { recursive: true });
  });
  const options = { libraryPath, contextSize: 256, threads: 1, cacheTypeK: "q4_0" } as const;

  test("a model opens and answers, with a coded cache too", async () => {
    await using inference = await Inference.open(model, options);
    assert.ok((await inference.stream("Once upon a time", { maxTokens: 2 }).text()).length > 0);
  });

  test("calibrate writes where it was told, and says with a code that its own place cannot be written", async () => {
    const textPath = join(folder, "text.txt");
    await writeFile(textPath, "The keeper of the light walks down to the sea. ".repeat(80));
    const short = { libraryPath, textPath, tokens: 128, contextSize: 64, threads: 1 };
    await assert.rejects(calibrate(model, short), coded("DISK_ERROR", /data/));
    const outPath = join(folder, "out", "model.kvmap");
    await mkdir(join(folder, "out"));
    assert.equal((await calibrate(model, { ...short, outPath })).path, outPath);
    // The map itself has to be solved and kept.
    await assert.rejects(
      Inference.open(model, { ...options, kvMap: outPath }),
      coded("DISK_ERROR", /solved once and kept/),
    );
  });

  test("a folder without permission is PERMISSION_DENIED", {
    skip: process.getuid?.() === 0 && "as root",
  }, async () => {
    const locked = join(folder, "locked");
    await mkdir(locked);
    await chmod(locked, 0o500);
    await assert.rejects(
      calibrate(model, { libraryPath, outPath: join(locked, "x", "m.kvmap") }),
      coded("PERMISSION_DENIED", /locked/),
    );
  });
});

function coded(code: string, words: RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof InferenceError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, words);
    return true;
  };
}
