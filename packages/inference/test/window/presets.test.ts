import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cachePresets, choosePreset } from "../../src/cache-presets.ts";
import type { GgufFile } from "../../src/gguf/index.ts";
import { Inference, InferenceError } from "../../src/index.ts";

/** A file's head, as far as a preset looks at it. */
function file(values: Readonly<Record<string, number>>): GgufFile {
  const metadata = new Map<string, string | number>([["general.architecture", "any"]]);
  for (const [key, value] of Object.entries(values)) metadata.set(`any.${key}`, value);
  return { path: "any.gguf", metadata, tensors: [] } as unknown as GgufFile;
}

const heads = (size: number) => file({ "attention.key_length": size, "attention.value_length": size });

describe("cache presets", () => {
  it("take fewer bits one after the other, and mixed types only behind a map", () => {
    for (const hasMap of [false, true]) {
      const types = cachePresets.map((name) => choosePreset(name, heads(128), hasMap).cacheTypeK);
      const suffix = hasMap ? "mix" : "tcq";
      assert.deepEqual(types, ["f16", `turbo4_${suffix}`, `turbo3_${suffix}`, `turbo2_${suffix}`]);
    }
    assert.equal(choosePreset("balanced", heads(64), true).cacheTypeV, "turbo4_tcq");
  });

  it("choose what fits every head size of the model, and say so", () => {
    const narrow = choosePreset("balanced", heads(96), true);
    assert.equal(narrow.cacheTypeK, "turbo4");
    assert.match(narrow.why, /96/);
    const odd = choosePreset("small", heads(80), true);
    assert.deepEqual([odd.cacheTypeK, odd.cacheTypeV], ["f16", "f16"]);
    assert.match(odd.why, /no coded type fits heads of 80/);
    const both = file({
      "attention.key_length": 512,
      "attention.value_length": 512,
      "attention.key_length_swa": 80,
    });
    assert.equal(choosePreset("balanced", both, false).cacheTypeK, "f16");
    const counted = file({ embedding_length: 576, "attention.head_count": 9 });
    assert.equal(choosePreset("balanced", counted, false).cacheTypeK, "turbo4_tcq");
  });

  it("do not go with types of one's own, and have only these names", async () => {
    const refused = (options: object, words: RegExp) =>
      assert.rejects(Inference.open("none.gguf", options), (error: unknown) => {
        assert.ok(error instanceof InferenceError);
        assert.equal(error.code, "INVALID_ARGUMENT");
        assert.match(error.message + error.hint, words);
        return true;
      });
    await refused({ cache: "small", cacheTypeV: "f16" }, /cacheTypeK and cacheTypeV/);
    await refused({ cache: "tiny" }, /f16, balanced, small, smallest/);
    await refused({ exactTokens: -1 }, /exactTokens/);
    await refused({ exactSinks: 1.5 }, /exactSinks/);
  });
});
