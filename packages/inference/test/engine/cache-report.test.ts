import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { Inference, type StreamReport } from "../../src/index.ts";
import { NativeLibrary } from "../../src/native/native-library.ts";
import { writeTinyModel } from "../map/tiny-model.ts";
import { streamConfig } from "./abi-streams.ts";
import { libraryUnderTest, picoModel as model } from "./engine-under-test.ts";

const libraryPath = await libraryUnderTest();

const open = (path: string, cacheTypeK: string, cacheTypeV: string) =>
  Inference.open(path, { libraryPath, contextSize: 2048, threads: 1, cacheTypeK, cacheTypeV });

describe("the report of the cache", () => {
  test("names type, tile and rotation of K and V in each layer", async () => {
    await using inference = await open(model, "q4_0", "turbo4");
    const { kv, model: described } = inference.report();
    const layers = kv.caches.flatMap((cache) => cache.layers);
    assert.equal(layers.length, described.layers);
    for (const layer of layers) {
      assert.deepEqual([layer.k, layer.kTile, layer.v, layer.vTile], ["q4_0", 32, "turbo4", 32]);
      // llama.cpp turns q4_0's keys by the widest power of two in the head; turbo4 turns rows itself
      assert.ok(layer.kRotation >= 64 && layer.headDimK % layer.kRotation === 0);
      assert.equal(layer.vRotation, 0);
    }
    assert.deepEqual([kv.graphRotationK, kv.graphRotationV], [true, false]);
    assert.deepEqual(kv.differences, []);
    assert.equal(
      layers.reduce((sum, layer) => sum + layer.kBytesPerToken + layer.vBytesPerToken, 0),
      kv.bytesPerToken,
    );
  });

  test("gives the reason when a rotation that the type wants is missing", async () => {
    process.env.LLAMA_ATTN_ROT_DISABLE = "1";
    try {
      await using inference = await open(model, "q4_0", "turbo4");
      const { kv, model: described } = inference.report();
      assert.equal(kv.graphRotationK, false);
      assert.equal(kv.differences.length, described.layers);
      assert.deepEqual(kv.differences[0], {
        layer: 0,
        side: "K",
        asked: "rotated by the graph",
        used: "not rotated",
        reason: "LLAMA_ATTN_ROT_DISABLE is set",
      });
    } finally {
      delete process.env.LLAMA_ATTN_ROT_DISABLE;
    }
  });

  test("tells sliding-window layers from the others", async () => {
    const folder = await mkdtemp(join(tmpdir(), "eliza-report-"));
    after(() => rm(folder, { recursive: true, force: true }));
    const tiny = await writeTinyModel(folder, "gemma3", { tokenizer: true });
    await using inference = await Inference.open(tiny.path, {
      ...{ libraryPath, contextSize: 512, ubatchSize: 32, threads: 1 },
      ...{ cacheTypeK: "turbo4_tcq", cacheTypeV: "turbo3_tcq" },
    });
    const { kv } = inference.report();
    const layers = kv.caches.flatMap((cache) => cache.layers);
    assert.deepEqual(
      layers.map((layer) => layer.layer).sort((a, b) => a - b),
      [...Array(tiny.layers).keys()],
    );
    for (const cache of kv.caches) {
      for (const layer of cache.layers) {
        assert.equal(layer.kind, cache.kind);
        assert.equal(layer.window, tiny.windows[layer.layer]);
        assert.equal(layer.window, cache.kind === "full" ? 0 : 24);
        assert.deepEqual([layer.k, layer.kTile, layer.v, layer.vTile], ["turbo4_tcq", 64, "turbo3_tcq", 64]);
      }
    }
    const cells = Object.fromEntries(kv.caches.map((cache) => [cache.kind, cache.cells]));
    assert.ok(cells["sliding-window"]! < cells.full!);
    assert.equal(kv.bytesTotal, kv.bytesComputed);
  });

  test("tells layers that share a cache, and heads of two sizes", async () => {
    const folder = await mkdtemp(join(tmpdir(), "eliza-report-"));
    const library = NativeLibrary.load(libraryPath);
    const tiny = await writeTinyModel(folder, "gemma4");
    const context = library.create(tiny.path);
    const types = { cache_type_k: "q4_0", cache_type_v: "turbo4" };
    const stream = await library.open(context, { ...streamConfig, ...types }, {});
    try {
      const { kv } = (await library.report(stream)) as StreamReport;
      assert.deepEqual(
        kv.layersSharingKv.sort((a, b) => a.layer - b.layer),
        [
          { layer: 4, kind: "sliding-window", from: 2 },
          { layer: 5, kind: "full", from: 3 },
        ],
      );
      const layers = kv.caches.flatMap((cache) => cache.layers).sort((a, b) => a.layer - b.layer);
      assert.deepEqual(
        layers.map(({ layer, kind, window, headDimK, k, v }) => [layer, kind, window, headDimK, k, v]),
        [
          [0, "sliding-window", 24, 64, "q4_0", "turbo4"],
          [1, "full", 0, 128, "q4_0", "turbo4"],
          [2, "sliding-window", 24, 64, "q4_0", "turbo4"],
          [3, "full", 0, 128, "q4_0", "turbo4"],
        ],
      );
      // 2 KV heads of 64 or 128: q4_0 and turbo4 both take 18 bytes for 32 values
      const bytes = (headDim: number): number => (2 * headDim * 18) / 32;
      for (const layer of layers) {
        assert.equal(layer.kBytesPerToken, bytes(layer.headDimK));
        assert.equal(layer.vBytesPerToken, bytes(layer.headDimV));
      }
      assert.equal(kv.bytesTotal, kv.bytesComputed);
    } finally {
      await library.close(stream);
      await library.destroy(context);
      await rm(folder, { recursive: true, force: true });
    }
  });
});
