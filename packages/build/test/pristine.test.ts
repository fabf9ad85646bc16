import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { userFolders } from "@eliza-inference/fetch";
import { writeTinyModel } from "../../inference/test/map/tiny-model.ts";
import { ensureNativeLibrary, type NativeLibrary } from "../src/index.ts";

/** Ids below `vocabulary` are given; `path` gets the folder of the test. */
const MODELS: Record<string, { vocabulary: number; path: (folder: string) => string }> = {
  pico: {
    vocabulary: 1000,
    path: () => fileURLToPath(new URL("../../../models/pico/pico.gguf", import.meta.url)),
  },
  "smollm2-135m": {
    vocabulary: 1000,
    path: () => join(userFolders().models, "SmolLM2-135M-Instruct.Q4_1.gguf"),
  },
  // generated: five layers of six look back over 24 tokens
  "tiny gemma3": { vocabulary: 128, path: (folder) => join(folder, "gemma3.gguf") },
};

describe("llama.cpp with our edits, against llama.cpp without them", () => {
  let edited: NativeLibrary;
  let pristine: NativeLibrary;
  let folder = "";
  before(async () => {
    edited = await ensureNativeLibrary();
    pristine = await ensureNativeLibrary({ variant: "pristine" });
    folder = await mkdtemp(join(tmpdir(), "pristine-"));
    const tiny = await writeTinyModel(folder, "gemma3", { tokenizer: true });
    assert.ok(tiny.windows.some((window) => window > 0) && tiny.windows.includes(0));
  });
  after(() => rm(folder, { recursive: true }));

  const logits = (library: NativeLibrary, model: string, ...options: string[]): Buffer =>
    execFileSync(library.tool("eliza-logits"), [model, join(folder, "tokens"), ...options], {
      maxBuffer: 1 << 30,
    });

  for (const [name, { vocabulary, path }] of Object.entries(MODELS)) {
    const pulled = name !== "smollm2-135m" || existsSync(path(""));
    const skip = pulled ? false : `${name} is not on this machine`;
    // any ids do: what is compared is arithmetic, not sense
    const tokens = Array.from({ length: 96 }, (_, i) => (i * 37 + 11) % vocabulary);
    test(`${name}: an f16 cache gives bit-identical logits, in one ubatch and in several`, {
      skip,
    }, async () => {
      const model = path(folder);
      await writeFile(join(folder, "tokens"), tokens.join(" "));
      for (const options of [["ubatch=512"], ["ubatch=32"], ["threads=1"]]) {
        const ours = logits(edited, model, ...options);
        assert.ok(ours.length > 0 && ours.length % (4 * tokens.length) === 0);
        assert.ok(ours.equals(logits(pristine, model, ...options)), options.join(" "));
      }
    });

    test(`${name}: a turbo4 cache moves the logits as little as pristine q4_0 does`, {
      skip,
    }, async () => {
      const model = path(folder);
      await writeFile(join(folder, "tokens"), tokens.join(" "));
      const exact = floats(logits(edited, model));
      const turbo4 = 1 - cosine(exact, floats(logits(edited, model, "k=turbo4", "v=turbo4")));
      const q4 = 1 - cosine(exact, floats(logits(pristine, model, "k=q4_0", "v=q4_0")));
      assert.ok(turbo4 > 0, "turbo4 was in use");
      // These ids are no text, so the two differ by chance; a query left unrotated would be 100 times off.
      assert.ok(turbo4 < 3 * q4, `turbo4 ${turbo4}, q4_0 ${q4}`);
    });
  }
});

function floats(bytes: Buffer): Float32Array {
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
}

function cosine(a: Float32Array, b: Float32Array): number {
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    ab += a[i]! * b[i]!;
    aa += a[i]! ** 2;
    bb += b[i]! ** 2;
  }
  return ab / Math.sqrt(aa * bb);
}
