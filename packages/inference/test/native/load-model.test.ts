import assert from "node:assert/strict";
import { test } from "node:test";
import { Inference } from "../../src/inference.ts";
import { loadModel } from "../../src/native/load-model.ts";
import { NativeLibrary } from "../../src/native/native-library.ts";
import { libraryUnderTest, picoModel } from "../engine/engine-under-test.ts";

const libraryPath = await libraryUnderTest();

test("loading tells how far it is, rising, and that it is done", async () => {
  const told: number[] = [];
  const inference = await Inference.open(picoModel, {
    libraryPath,
    onProgress: (loaded) => told.push(loaded),
  });
  await inference.close();
  assert.equal(told.at(-1), 1);
  for (const [at, loaded] of told.entries()) assert.ok(at === 0 || loaded >= told[at - 1]!, `${told}`);
});

test("a progress callback that throws stops the opening with its own error", async () => {
  const mine = new Error("enough");
  const open = Inference.open(picoModel, {
    libraryPath,
    onProgress: () => {
      throw mine;
    },
  });
  await assert.rejects(open, (error) => error === mine);
});

test("an aborted signal stops the load itself, and the context loads again", async () => {
  const library = NativeLibrary.load(libraryPath);
  const context = library.create(picoModel);
  const before = loadModel(library, context, 0, { signal: AbortSignal.abort() });
  await assert.rejects(before, { code: "CANCELLED" });
  assert.equal(library.loadProgress(context), 0, "nothing was begun");
  const stop = new AbortController();
  const load = loadModel(library, context, 0, { signal: stop.signal });
  stop.abort();
  await assert.rejects(load, { code: "CANCELLED" });
  // sticky where the load had ended before: one more may hear of it
  await library.loadModel(context, 0).catch((error) => assert.equal(error.code, "CANCELLED"));
  await library.loadModel(context, 0);
  assert.equal(library.loadProgress(context), 1);
  await library.destroy(context);
});

test("a runtime that is not llama.cpp loads nothing of it", async () => {
  const told: number[] = [];
  await assert.rejects(
    Inference.open(picoModel, {
      libraryPath,
      runtime: "litert-lm",
      onProgress: (loaded) => told.push(loaded),
    }),
  );
  assert.deepEqual(told, []);
});
