import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { cachePresets, choosePreset, presetTypes } from "../../src/cache-presets.ts";
import type { GgufFile } from "../../src/gguf/index.ts";
import { Inference, InferenceError } from "../../src/index.ts";

/** A file's head, as far as a preset looks at it. */
function file(values: Readonly<Record<string, number>>): GgufFile {
  const metadata = new Map<string, string | number>([["general.architecture", "any"]]);
  for (const [key, value] of Object.entries(values)) metadata.set(`any.${key}`, value);
  return { path: "any.gguf", metadata, tensors: [] } as unknown as GgufFile;
}

const heads = (size: number) => file({ "attention.key_length": size, "attention.value_length": size });

interface Measured {
  model: string;
  length: number;
  types: string;
  /** with the exact window, and through a map */
  way: "both" | "window";
  kl: number;
  perplexityRatio: number;
  /** of the whole cache, as a share of f16's */
  share: number;
}

/** What `npm run bench -- exact-window` kept, where both sides are coded and the window is on. */
async function readTable(): Promise<Measured[]> {
  const folder = fileURLToPath(new URL("../../../../bench/exact-window/results/", import.meta.url));
  const rows: Measured[] = [];
  for (const name of await readdir(folder)) {
    const { model, length, reference, rows: own } = JSON.parse(await readFile(folder + name, "utf8"));
    for (const { cache, kl, perplexityRatio, bytes } of own) {
      const [, types, map] = /^([^~@+]+)~128,4@8(\+map)?$/.exec(cache) ?? [];
      if (types === undefined || types.includes("f16")) continue;
      const way = map ? "both" : "window";
      rows.push({ model, length, types, way, kl, perplexityRatio, share: bytes / reference.bytes });
    }
  }
  return rows;
}

describe("cache presets and the table that they are chosen by", async () => {
  const table = await readTable();
  const find = (model: string, length: number, types: readonly string[], way: Measured["way"]) => {
    const rows = table.filter(
      (row) =>
        row.model === model && row.length === length && row.types === types.join("/") && row.way === way,
    );
    assert.ok(rows.length > 0, `${types.join("/")} ${way} is not measured on ${model} at ${length}`);
    return rows[0]!;
  };
  const { balanced, small, smallest } = presetTypes;

  for (const model of ["smollm2-135m", "pico"]) {
    it(`${model}: balanced diverges least of all pairs within 30 % of f16's bytes, map or not`, () => {
      const chosen = find(model, 4096, balanced.mapped, "both");
      assert.ok(chosen.share <= 0.3 && chosen.perplexityRatio <= 1.005, JSON.stringify(chosen));
      const better = table.filter(
        (row) => row.model === model && row.length === 4096 && row.share <= 0.3 && row.kl < chosen.kl,
      );
      assert.deepEqual(better, []);
      const plain = find(model, 4096, balanced.plain, "window");
      assert.ok(plain.share <= 0.3 && plain.perplexityRatio <= 1.005, JSON.stringify(plain));
    });
  }

  it("gemma3-270m: balanced is within 0.5 % of perplexity; sliding windows make the bytes of a short context more", () => {
    const short = find("gemma3-270m", 4096, balanced.mapped, "both");
    assert.ok(short.perplexityRatio <= 1.005, JSON.stringify(short));
    assert.ok(short.share > 0.3, "then docs/exact-window.md says too little of it");
    assert.ok(find("gemma3-270m", 4096, small.mapped, "both").share <= 0.3);
    assert.ok(find("gemma3-270m", 16384, balanced.mapped, "both").share <= 0.3);
  });

  for (const model of ["smollm2-135m", "gemma3-270m", "pico"]) {
    it(`${model}: each preset takes fewer bytes than the one before, and a map makes it lose less`, () => {
      for (const way of ["both", "window"] as const) {
        const rows = [balanced, small, smallest].map((types) =>
          find(model, 4096, way === "both" ? types.mapped : types.plain, way),
        );
        for (const [at, row] of rows.slice(1).entries()) {
          assert.ok(row.share < rows[at]!.share && row.kl > rows[at]!.kl, JSON.stringify([rows[at], row]));
        }
      }
      for (const types of [balanced, small, smallest]) {
        const [mapped, plain] = [
          find(model, 4096, types.mapped, "both"),
          find(model, 4096, types.plain, "window"),
        ];
        assert.ok(mapped.kl < plain.kl, JSON.stringify([mapped, plain]));
      }
    });
  }
});

describe("cache presets", () => {
  it("take fewer bits one after the other, and mixed types only behind a map", () => {
    for (const hasMap of [false, true]) {
      const types = cachePresets.map((name) => choosePreset(name, heads(128), hasMap).cacheTypeK);
      const suffix = hasMap ? "mix" : "tcq";
      assert.deepEqual(types, ["f16", `turbo4_${suffix}`, `turbo3_${suffix}`, `turbo2_${suffix}`]);
    }
    assert.equal(choosePreset("balanced", heads(64), true).cacheTypeV, "turbo3_tcq");
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
