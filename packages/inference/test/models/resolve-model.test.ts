import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { InferenceError } from "../../src/errors.ts";
import { closestName, knownModels, resolveModel } from "../../src/models/index.ts";

const folder = await mkdtemp(join(tmpdir(), "eliza-resolve-"));
after(() => rm(folder, { recursive: true, force: true }));

async function refused(given: string): Promise<InferenceError> {
  const error = await resolveModel(given, { folder }).then(
    () => assert.fail(`${given} was found`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof InferenceError);
  return error;
}

test("a known name is its pulled file, and says how to pull it before", async () => {
  const [model] = knownModels;
  assert.ok(model);
  const error = await refused("smollm2-135m");
  assert.equal(error.code, "MODEL_NOT_FOUND");
  assert.equal(error.hint, "Run: eliza-inference pull smollm2-135m");
  const path = join(folder, model.file);
  await writeFile(path, "");
  await truncate(path, model.bytes);
  assert.deepEqual(await resolveModel("SmolLM2-135M", { folder }), {
    path,
    given: "SmolLM2-135M",
    kind: "name",
  });
});

test("files and bundles are found", async () => {
  const file = join(folder, "one.gguf");
  await writeFile(file, "x");
  assert.deepEqual(await resolveModel(file), { path: file, given: file, kind: "file" });
  const bundle = join(folder, "bundle");
  await mkdir(join(bundle, "text"), { recursive: true });
  assert.match((await refused(bundle)).message, /no \.gguf/);
  for (const piece of ["m-00002-of-00002.gguf", "m-00001-of-00002.gguf", "notes.txt"]) {
    await writeFile(join(bundle, "text", piece), "x");
  }
  const found = await resolveModel(bundle);
  assert.deepEqual(found, {
    path: join(bundle, "text", "m-00001-of-00002.gguf"),
    given: bundle,
    kind: "bundle",
  });
  await writeFile(join(bundle, "text", "other.gguf"), "x");
  assert.equal((await refused(bundle)).code, "MODEL_INVALID");
});

test("what is not there is told with what was probably meant", async () => {
  await writeFile(join(folder, "qwen3-0.6b.gguf"), "x");
  assert.match((await refused(join(folder, "qwen3-06b.gguf"))).hint, /Did you mean .*qwen3-0\.6b\.gguf/);
  assert.match((await refused("gemma3-270")).hint, /Did you mean gemma3-270m/);
  assert.match((await refused("llama")).hint, /Known models: smollm2-135m, gemma3-270m/);
  assert.match((await refused(join(folder, "no", "folder.gguf"))).message, /no such folder/);
});

test("the closest name is found among near ones, and none among far ones", () => {
  const names = ["--temperature", "--threads", "--top-p", "--top-k"];
  assert.equal(closestName("--temprature", names), "--temperature");
  assert.equal(closestName("--thraeds", names), "--threads");
  assert.equal(closestName("--temp", names), "--temperature");
  assert.equal(closestName("--verbose", names), undefined);
});
