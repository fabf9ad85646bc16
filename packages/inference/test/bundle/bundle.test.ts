import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { checkBundle, createBundle, findArtifacts } from "../../src/bundle/index.ts";
import { InferenceError } from "../../src/errors.ts";
import { Inference } from "../../src/index.ts";
import { libraryUnderTest, picoModel } from "../engine/engine-under-test.ts";

const root = await mkdtemp(join(tmpdir(), "eliza-bundles-"));
after(() => rm(root, { recursive: true, force: true }));

/** A bundle with these files, each holding its own name. */
async function bundleOf(name: string, files: string[]): Promise<string> {
  const folder = join(root, name);
  for (const file of files) {
    await mkdir(join(folder, file, ".."), { recursive: true });
    await writeFile(join(folder, file), file);
  }
  return folder;
}

const refusal = (code: string, words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof InferenceError, String(error));
  assert.equal(error.code, code);
  assert.match(error.message, words);
  return true;
};

test("each kind of model is found, with the runtime that serves it", async () => {
  const cases: [string[], string[]][] = [
    [["text/a.gguf"], ["gguf llama.cpp a.gguf"]],
    [["text/m-00001-of-00002.gguf", "text/m-00002-of-00002.gguf"], ["gguf llama.cpp m-00001-of-00002.gguf"]],
    [["text/a.litertlm"], ["litertlm litert-lm a.litertlm"]],
    [["text/a.mlpackage/Manifest.json"], ["mlpackage mlx-coreml a.mlpackage"]],
    [["text/a.mlmodelc/model.mil"], ["mlmodelc mlx-coreml a.mlmodelc"]],
    [["text/w/config.json", "text/w/model.safetensors"], ["mlx mlx-coreml w"]],
    [["text/config.json", "text/model.safetensors"], ["mlx mlx-coreml text"]],
    [["text/.hidden.gguf", "text/notes.txt", "text/w/config.json"], []],
    [
      ["text/a.gguf", "text/b.litertlm"],
      ["gguf llama.cpp a.gguf", "litertlm litert-lm b.litertlm"],
    ],
  ];
  for (const [at, [files, expected]] of cases.entries()) {
    const folder = await bundleOf(`kinds-${at}`, files);
    const found = await findArtifacts(folder);
    assert.deepEqual(
      found.map(({ kind, runtime, path }) => `${kind} ${runtime} ${path.split(/[/\\]/).at(-1)}`),
      expected,
    );
  }
});

test("what create writes is what lies there, and check finds every change", async () => {
  const folder = await bundleOf("whole", ["text/a.gguf", "text/drafter.bin", "README.md"]);
  const manifest = await createBundle(folder, {
    name: "A model",
    licence: "MIT",
    drafter: "text/drafter.bin",
    minimumKernels: ["turbo4"],
  });
  assert.deepEqual(JSON.parse(await readFile(join(folder, "bundle.json"), "utf8")), manifest);
  assert.deepEqual(
    manifest.files,
    ["README.md", "text/a.gguf", "text/drafter.bin"].map((path) => ({
      path,
      bytes: path.length,
      sha256: createHash("sha256").update(path).digest("hex"),
    })),
  );
  const problems = async (options = {}) => (await checkBundle(folder, options)).problems;
  assert.deepEqual(await problems({ knownCacheTypes: ["f16", "turbo4"] }), []);
  assert.match((await problems({ knownCacheTypes: ["f16"] })).join(), /needs the KV cache type turbo4/);
  await writeFile(join(folder, "text/a.gguf"), "text/b.gguf");
  assert.deepEqual(await problems(), ["text/a.gguf has another sha256"]);
  assert.deepEqual(await problems({ hashes: false }), []);
  await writeFile(join(folder, "text/a.gguf"), "longer than before");
  assert.deepEqual(await problems(), ["text/a.gguf has 18 bytes, not 11"]);
  await writeFile(join(folder, "text/more.txt"), "");
  await rm(join(folder, "README.md"));
  assert.deepEqual(await problems({ hashes: false }), [
    "README.md is missing",
    "text/a.gguf has 18 bytes, not 11",
    "text/more.txt is not listed in bundle.json",
  ]);
});

test("a split model that is not whole, no model, a drafter that is not there", async () => {
  const split = await bundleOf("split", ["text/m-00001-of-00003.gguf", "text/m-00003-of-00003.gguf"]);
  await assert.rejects(createBundle(split), refusal("MODEL_INVALID", /m-00002-of-00003\.gguf/));
  assert.deepEqual((await checkBundle(split)).problems, ["text/m-00002-of-00003.gguf is missing"]);
  const empty = await bundleOf("empty", ["notes.txt"]);
  await assert.rejects(createBundle(empty), refusal("MODEL_NOT_FOUND", /no model/));
  const whole = await bundleOf("no-drafter", ["text/a.gguf"]);
  await assert.rejects(createBundle(whole, { drafter: "../a" }), refusal("INVALID_ARGUMENT", /drafter/));
  await assert.rejects(checkBundle(join(root, "nowhere")), refusal("MODEL_NOT_FOUND", /no folder/));
  assert.deepEqual(await readdir(whole), ["text"]);
});

test("a bundle.json that is none is refused with the place", async () => {
  const folder = await bundleOf("forged", ["text/a.gguf"]);
  const good = await createBundle(folder);
  const [file] = good.files;
  const forged: [unknown, RegExp][] = [
    ["{", /no JSON/],
    [{ ...good, version: 2 }, /\/version/],
    [{ ...good, extra: 1 }, /additional properties/],
    [{ ...good, files: [] }, /\/files/],
    [{ ...good, files: [{ ...file, path: "../a" }] }, /\/files\/0\/path/],
    [{ ...good, files: [{ ...file, path: "a/../../b" }] }, /\/files\/0\/path/],
    [{ ...good, files: [{ ...file, path: "/etc/passwd" }] }, /\/files\/0\/path/],
    [{ ...good, files: [{ ...file, path: "C:\\a" }] }, /\/files\/0\/path/],
    [{ ...good, files: [{ ...file, sha256: "00" }] }, /\/files\/0\/sha256/],
    [{ ...good, files: [file, file] }, /listed twice/],
    [{ ...good, drafter: "text/b" }, /drafter/],
  ];
  for (const [content, words] of forged) {
    await writeFile(
      join(folder, "bundle.json"),
      typeof content === "string" ? content : JSON.stringify(content),
    );
    await assert.rejects(checkBundle(folder), refusal("MODEL_INVALID", words));
  }
});

test("open takes a bundle that is whole and refuses one that is not", async () => {
  const folder = join(root, "real");
  await mkdir(join(folder, "text"), { recursive: true });
  await cp(picoModel, join(folder, "text", "model.gguf"));
  await createBundle(folder, { minimumKernels: ["turbo4"] });
  const libraryPath = await libraryUnderTest();
  const open = async () => {
    const inference = await Inference.open(folder, { contextSize: 128, gpuLayers: 0, libraryPath });
    await inference.close();
    return inference.report().runtime;
  };
  assert.equal(await open(), "llama.cpp");
  await createBundle(folder, { minimumKernels: ["turbo9"] });
  await assert.rejects(open(), refusal("MODEL_INVALID", /turbo9/));
  await createBundle(folder);
  await writeFile(join(folder, "more.txt"), "");
  await assert.rejects(open(), refusal("MODEL_INVALID", /more\.txt is not listed/));
});
