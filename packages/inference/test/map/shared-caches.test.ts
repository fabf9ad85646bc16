import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { readGguf } from "../../src/gguf/index.ts";
import { Inference } from "../../src/index.ts";
import { calibrate, Statistics } from "../../src/maps/index.ts";
import { libraryUnderTest } from "../engine/engine-under-test.ts";
import { normals, type TinyModel, writeTinyModel } from "./tiny-model.ts";

describe("the map of a model whose layers share caches", () => {
  let folder: string;
  let libraryPath: string;
  let model: TinyModel;
  let statistics: Statistics;

  before(async () => {
    libraryPath = await libraryUnderTest();
    folder = await mkdtemp(join(tmpdir(), "eliza-shared-"));
    process.env.ELIZA_INFERENCE_CACHE = join(folder, "cache");
    model = await writeTinyModel(folder, "gemma4", { tokenizer: true });
    const draw = normals(21);
    const text = Array.from({ length: 6000 }, () => "etaoin shrdlu"[Math.floor(Math.abs(draw()) * 999) % 13]);
    await writeFile(join(folder, "text.txt"), text.join(""));
    const { path } = await calibrate(model.path, {
      textPath: join(folder, "text.txt"),
      outPath: join(folder, "own.kvmap"),
      ...{ tokens: 512, contextSize: 128, threads: 1, libraryPath },
    });
    statistics = await Statistics.open(path);
  });
  after(async () => {
    delete process.env.ELIZA_INFERENCE_CACHE;
    await rm(folder, { recursive: true, force: true });
  });

  it("knows who looks into whose cache", () => {
    assert.deepEqual(statistics.layers.source, [0, 1, 2, 3, 2, 3]);
    assert.deepEqual(statistics.cacheLayers(), [0, 1, 2, 3]);
    assert.deepEqual(statistics.layers.headDimK, model.headDims);
    assert.deepEqual(statistics.layers.window, model.windows);
  });

  it("weighs values by the output projections of all layers that read them", async () => {
    const { tensors } = await readGguf(model.path);
    const bytes = await readFile(model.path);
    /** Σ over the kv head's heads of W_o W_oᵀ, from the weights alone. */
    const expected = (layer: number, kvHead: number): Float64Array => {
      const d = model.headDims[layer]!;
      const sum = new Float64Array(d * d);
      const group = model.heads / model.kvHeads;
      for (const user of model.sources.flatMap((source, at) => (source === layer ? [at] : []))) {
        const tensor = tensors.find(({ name }) => name === `blk.${user}.attn_output.weight`)!;
        const [width = 0, outputs = 0] = tensor.shape;
        const weights = new Float32Array(
          bytes.buffer.slice(bytes.byteOffset + tensor.offset),
          0,
          width * outputs,
        );
        for (let output = 0; output < outputs; output++) {
          for (let head = kvHead * group; head < (kvHead + 1) * group; head++) {
            const row = weights.subarray(output * width + head * d, output * width + (head + 1) * d);
            for (let i = 0; i < d; i++) for (let j = 0; j < d; j++) sum[i * d + j]! += row[i]! * row[j]!;
          }
        }
      }
      return sum;
    };
    for (const layer of statistics.cacheLayers()) {
      const { heads } = await statistics.heads(layer);
      for (const [head, { outputSecond }] of heads.entries()) {
        const truth = expected(layer, head);
        const largest = truth.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
        outputSecond.forEach((value, at) => {
          assert.ok(Math.abs(value - truth[at]!) < 1e-5 * largest, `layer ${layer}, head ${head}, ${at}`);
        });
      }
    }
  });

  it("is computed with", async () => {
    await using inference = await Inference.open(model.path, {
      ...{ libraryPath, contextSize: 256, threads: 1, gpuLayers: 0 },
      ...{ cacheTypeK: "q4_0", cacheTypeV: "q8_0", kvMap: statistics.path },
    });
    const { kv } = inference.report();
    assert.deepEqual([kv.map?.keys, kv.map?.statisticsSha256], [true, statistics.sha256]);
    const first = await inference.stream("the sea is near", { maxTokens: 12 }).text();
    assert.equal(await inference.stream("the sea is near", { maxTokens: 12 }).text(), first);
  });
});
