import assert from "node:assert/strict";
import { mkdir, mkdtemp, open, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { InferenceError } from "../../src/errors.ts";
import { Inference } from "../../src/inference.ts";
import type { OpenOptions } from "../../src/options.ts";
import { writeTinyModel } from "../map/tiny-model.ts";
import { libraryUnderTest, picoModel as model } from "./engine-under-test.ts";

const libraryPath = await libraryUnderTest();
const SEED = 20261130;

/** xorshift32, so that the random file is the same on every run. */
function randomBytes(count: number): Buffer {
  let state = SEED;
  return Buffer.from(
    Uint8Array.from({ length: count }, () => {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      return state & 255;
    }),
  );
}

describe("what cannot work is a typed error, and the process goes on", () => {
  let folder = "";
  let good: Buffer;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "broken-"));
    const file = await open(model);
    good = Buffer.alloc(Math.min((await file.stat()).size, 4 << 20));
    await file.read(good, 0, good.length, 0);
    await file.close();
  });
  after(() => rm(folder, { recursive: true }));

  const refuses = async (
    path: string,
    code: string,
    words: RegExp,
    options: OpenOptions = {},
  ): Promise<void> => {
    await assert.rejects(Inference.open(path, { libraryPath, ...options }), (error: unknown) => {
      assert.ok(error instanceof InferenceError, String(error));
      assert.equal(error.code, code, error.message);
      assert.match(error.message, words);
      assert.ok(error.hint.length > 0, "a hint");
      return true;
    });
  };
  const write = async (name: string, bytes: Uint8Array): Promise<string> => {
    await writeFile(join(folder, name), bytes);
    return join(folder, name);
  };

  test("a missing file", () => refuses(join(folder, "no.gguf"), "MODEL_NOT_FOUND", /no\.gguf/));
  test("an empty file", async () =>
    refuses(await write("empty.gguf", Buffer.alloc(0)), "MODEL_INVALID", /empty/));
  test("random bytes", async () =>
    refuses(await write("random.gguf", randomBytes(100_000)), "MODEL_INVALID", /random\.gguf/));
  test("random bytes behind a right magic", async () => {
    const bytes = randomBytes(100_000);
    bytes.write("GGUF");
    bytes.writeUInt32LE(3, 4);
    await refuses(await write("magic.gguf", bytes), "MODEL_INVALID", /magic\.gguf/);
  });
  for (const bytes of [4, 20, 1000, 100_000, 1 << 20, 4 << 20]) {
    test(`a GGUF file cut after ${bytes} bytes`, async () => {
      const cut = await write(`cut-${bytes}.gguf`, good.subarray(0, bytes));
      await refuses(cut, "MODEL_INVALID", /cut-/);
    });
  }
  test("a bundle without a model, and one with two", async () => {
    const bundle = join(folder, "bundle");
    await mkdir(join(bundle, "text"), { recursive: true });
    await refuses(bundle, "MODEL_NOT_FOUND", /bundle/);
    await symlink(model, join(bundle, "text", "a.gguf"));
    await (await Inference.open(bundle, { libraryPath, contextSize: 256 })).close();
    await symlink(model, join(bundle, "text", "b.gguf"));
    await refuses(bundle, "MODEL_INVALID", /a\.gguf, b\.gguf/);
  });
  test("an unknown cache type names the known ones", () =>
    assert.rejects(Inference.open(model, { libraryPath, cacheTypeK: "turbo5" }), (error: unknown) => {
      assert.ok(error instanceof InferenceError);
      assert.equal(error.code, "CACHE_TYPE_UNSUPPORTED");
      assert.match(error.message, /"turbo5" for K/);
      assert.match(error.hint, /f16.*q8_0.*turbo4/);
      return true;
    }));
  test("a type that is no cache type is not one by its ggml name either", () =>
    refuses(model, "CACHE_TYPE_UNSUPPORTED", /q6_K/, { cacheTypeV: "q6_K" }));
  test("a type whose tiles do not fit the heads is refused by layer, with those that do", async () => {
    const narrow = await writeTinyModel(folder, "llama", { tokenizer: true });
    await assert.rejects(
      Inference.open(narrow.path, { libraryPath, contextSize: 256, cacheTypeV: "q4_polar" }),
      (error: unknown) => {
        assert.ok(error instanceof InferenceError);
        assert.equal(error.code, "CACHE_TYPE_UNSUPPORTED");
        assert.match(error.message, /q4_polar for V does not fit head_dim 64 \(layer 0\)/);
        assert.match(error.hint, /turbo4_tcq/);
        assert.doesNotMatch(error.hint, /q4_polar|qjl|_mix/);
        return true;
      },
    );
  });
  test("types for keys alone, and types that need a map, are refused where they cannot be", async () => {
    await refuses(model, "CACHE_TYPE_UNSUPPORTED", /qjl1_256.*keys only/, { cacheTypeV: "qjl1_256" });
    await refuses(model, "CACHE_TYPE_UNSUPPORTED", /turbo4_mix.*learned map/, { cacheTypeK: "turbo4_mix" });
  });
  test("a context larger than memory says how much it needs and how much there is", () =>
    refuses(model, "OUT_OF_MEMORY", /needs \d+ MiB, \d+ MiB are available/, { contextSize: 2_000_000_000 }));
  test("GPU layers without a GPU are not silently the CPU", () =>
    refuses(model, "BACKEND_UNAVAILABLE", /n_gpu_layers is 3/, { gpuLayers: 3 }));
  test("options out of range", async () => {
    await refuses(model, "INVALID_ARGUMENT", /contextSize is -1/, { contextSize: -1 });
    await refuses(model, "INVALID_ARGUMENT", /threads is 0.5/, { threads: 0.5 });
    await refuses(model, "INVALID_ARGUMENT", /gpuLayers is -2/, { gpuLayers: -2 });
    await refuses(model, "INVALID_ARGUMENT", /ubatchSize 512 is larger than batchSize 64/, {
      batchSize: 64,
      ubatchSize: 512,
    });
  });

  test("a prompt beyond the context, and the same model answers the next one", async () => {
    await using inference = await Inference.open(model, { libraryPath, contextSize: 256 });
    await assert.rejects(inference.stream("one two three four ".repeat(200)).text(), (error: unknown) => {
      assert.ok(error instanceof InferenceError);
      assert.equal(error.code, "CONTEXT_FULL");
      return true;
    });
    await assert.rejects(inference.stream("x", { temperature: Number.NaN }).text(), /temperature is NaN/);
    await assert.rejects(inference.stream("x", { maxTokens: 0 }).text(), /maxTokens is 0/);
    const stream = inference.stream("Once upon a time", { temperature: 1.5, seed: 1 });
    const text = await stream.text();
    assert.ok(text.length > 0);
    const { finishReason, context } = await stream.report();
    assert.ok(["stop", "context"].includes(finishReason));
    assert.ok(context.used <= 256);
  });
});
