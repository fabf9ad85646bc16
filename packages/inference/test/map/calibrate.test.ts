import assert from "node:assert/strict";
import { copyFile, mkdir, mkdtemp, readdir, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Inference } from "../../src/inference.ts";
import { type Calibrated, calibrate, mapBeside, mapOfUser, Statistics } from "../../src/maps/index.ts";
import { libraryUnderTest, picoModel as pico } from "../engine/engine-under-test.ts";
import { rewriteGguf } from "./rewrite-gguf.ts";

const mapped = { cacheTypeK: "turbo4_mix", cacheTypeV: "turbo4_tcq", contextSize: 768, threads: 1 };

describe("calibrate", () => {
  let folder: string;
  let model: string;
  let libraryPath: string;
  let calibrated: Calibrated;
  const environment = { ...process.env };

  before(async () => {
    libraryPath = await libraryUnderTest();
    folder = await mkdtemp(join(tmpdir(), "eliza-calibrate-"));
    process.env.ELIZA_INFERENCE_CACHE = join(folder, "cache");
    process.env.XDG_DATA_HOME = join(folder, "data");
    model = join(folder, "model.gguf");
    await copyFile(pico, model);
    const steps: number[] = [];
    calibrated = await calibrate(model, {
      tokens: 1100,
      contextSize: 512,
      outPath: join(folder, "own.kvmap"),
      threads: 1,
      libraryPath,
      onProgress: ({ done, total }) => {
        assert.equal(total, 1024);
        steps.push(done);
      },
    });
    assert.deepEqual(steps, [512, 1024]);
  });
  after(async () => {
    process.env = environment;
    await rm(folder, { recursive: true, force: true });
  });

  const open = (kvMap: string, more = {}) =>
    Inference.open(model, { ...mapped, libraryPath, kvMap, ...more });
  async function answer(inference: Inference): Promise<string> {
    let text = "";
    for await (const piece of inference.stream("Once there was", { maxTokens: 8 })) text += piece.text;
    return text;
  }

  it("writes statistics that say what they are of", async () => {
    const statistics = await Statistics.open(calibrated.path);
    assert.equal(statistics.tokens, 1024);
    assert.equal(statistics.window, 512);
    assert.equal(statistics.modelSha256, calibrated.modelSha256);
    assert.equal(statistics.textSha256, calibrated.textSha256);
    assert.equal((await stat(calibrated.path)).size, calibrated.bytes);
    const [layer = -1] = statistics.cacheLayers();
    const { heads, rope } = await statistics.heads(layer);
    assert.equal(rope.pairs, "halves");
    for (const head of heads) {
      assert.ok(head.keyWeight > 0 && head.valueWeight > 0);
      const d = head.keySum.length;
      for (let i = 0; i < d; i++) {
        // Jensen: a second moment is at least the square of the mean.
        assert.ok(head.keySecond[i * d + i]! * head.keyWeight >= head.keySum[i]! ** 2 * (1 - 1e-6));
        for (let j = 0; j < i; j++) assert.equal(head.keySecond[i * d + j], head.keySecond[j * d + i]);
      }
    }
  });

  it("makes a map that the engine computes with and reports", async () => {
    await using inference = await open(calibrated.path);
    const { map, typeK } = inference.report().kv;
    assert.equal(typeK, "turbo4_mix");
    assert.equal(map?.contextSize, 768);
    assert.equal(map?.statisticsSha256, (await Statistics.open(calibrated.path)).sha256);
    assert.deepEqual([map?.keys, map?.values], [true, false]);
    assert.ok((map?.bytes ?? 0) > 0);
    assert.notEqual(await answer(inference), "");
  });

  it("is not used when asked off, and then types that need it are refused", async () => {
    await using inference = await open("off", { cacheTypeK: "turbo4_tcq" });
    assert.equal(inference.report().kv.map, null);
    await assert.rejects(open("off"), { code: "CACHE_TYPE_UNSUPPORTED", message: /turbo4_mix/ });
  });

  it("is found beside the model and in the user's folder, for coded caches alone", async () => {
    await assert.rejects(open("auto"), { code: "CACHE_TYPE_UNSUPPORTED" });
    for (const place of [mapBeside(model), mapOfUser(calibrated.modelSha256)]) {
      await mkdir(join(place, ".."), { recursive: true });
      await copyFile(calibrated.path, place);
      await using inference = await open("auto");
      assert.ok(inference.report().kv.map);
      await using plain = await open("auto", { cacheTypeK: "f16", cacheTypeV: "f16" });
      assert.equal(plain.report().kv.map, null);
      await rm(place);
    }
  });

  it("is refused where it does not fit, and the model runs without it", async () => {
    const changed = join(folder, "changed.kvmap");
    const rejects = (code: string, message: RegExp) => assert.rejects(open(changed), { code, message });
    const rewrite = (change: Parameters<typeof rewriteGguf>[2]) =>
      rewriteGguf(calibrated.path, changed, change);
    const { layers } = await Statistics.open(calibrated.path);

    await rewrite({ metadata: { "statistics.model_sha256": "f".repeat(64) } });
    await rejects("MAP_MISMATCH", /weights ffffffffffff/);
    await rewrite({ metadata: { "statistics.version": 7 } });
    await rejects("MAP_MISMATCH", /version 7/);
    await rewrite({ metadata: { "layers.kv_heads": layers.kvHeads.map(() => 1) } });
    await rejects("MAP_MISMATCH", /key\.weight is 2, not 1/);
    await rewrite({ metadata: { "layers.window": layers.window.map(() => 128) } });
    await rejects("MAP_MISMATCH", /window of 128 in the map, 0 in the model/);
    await rewrite({ tensor: (tensor) => (tensor.name === "blk.3.query.second" ? undefined : tensor) });
    await rejects("MAP_MISMATCH", /no blk\.3\.query\.second/);
    await rewrite({
      tensor: (tensor) => {
        if (tensor.name === "blk.1.value.second") tensor.values[5] = Number.NaN;
        return tensor;
      },
    });
    await rejects("MAP_INVALID", /blk\.1\.value\.second holds NaN/);
    await rewrite({});
    await truncate(changed, 200_000);
    await rejects("MAP_INVALID", /it is cut/);
    await writeFile(changed, "not a map at all");
    await rejects("MAP_INVALID", /changed\.kvmap/);
    await rm(changed);
    await rejects("MAP_NOT_FOUND", /is not there/);

    await using inference = await open("off", { cacheTypeK: "turbo4_tcq" });
    assert.notEqual(await answer(inference), "");
  });

  it("leaves nothing when it is stopped", async () => {
    const out = join(folder, "stopped");
    await mkdir(out);
    const controller = new AbortController();
    const stopped = calibrate(model, {
      tokens: 2048,
      contextSize: 512,
      outPath: join(out, "map.kvmap"),
      libraryPath,
      threads: 1,
      signal: controller.signal,
      onProgress: () => controller.abort(new Error("enough")),
    });
    await assert.rejects(stopped, { code: "CANCELLED" });
    assert.deepEqual(await readdir(out), []);
  });

  it("says what it cannot do", async () => {
    const text = join(folder, "short.txt");
    await writeFile(text, "Too few words.");
    const outPath = join(folder, "never.kvmap");
    await assert.rejects(calibrate(model, { textPath: text, outPath, libraryPath }), {
      code: "TEXT_TOO_SHORT",
    });
    await assert.rejects(calibrate(model, { tokens: 100, outPath, libraryPath }), {
      code: "INVALID_ARGUMENT",
    });
    await assert.rejects(calibrate(model, { textPath: join(folder, "none.txt"), outPath, libraryPath }), {
      code: "INVALID_ARGUMENT",
    });
    assert.ok(!(await readdir(folder)).some((name) => name.startsWith("never")));
  });
});
