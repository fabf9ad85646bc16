import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { ensureNativeLibrary } from "@eliza-inference/build";
import { normals, type TinyModel, writeRandomMap, writeTinyModel } from "./tiny-model.ts";

const run = promisify(execFile);
const uncoded = ["k=f32", "v=f32", "flash=0"];

describe("a learned map in the engine's graph", () => {
  let folder: string;
  let tool: string;
  let tokens: string;
  const models = new Map<string, { model: TinyModel; map: string }>();

  before(async () => {
    tool = (await ensureNativeLibrary()).tool("eliza-logits");
    folder = await mkdtemp(join(tmpdir(), "eliza-mapped-"));
    tokens = join(folder, "tokens.txt");
    const draw = normals(5);
    const ids = Array.from({ length: 90 }, () => Math.floor(Math.abs(draw()) * 4000) % 128);
    await writeFile(tokens, ids.join(" "));
    for (const architecture of ["llama", "gemma3", "gemma4"] as const) {
      const model = await writeTinyModel(folder, architecture);
      const map = join(folder, `${architecture}.map`);
      await writeRandomMap(map, model);
      models.set(architecture, { model, map });
    }
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function logits(model: string, ...options: string[]): Promise<Float32Array> {
    const { stdout } = await run(tool, [model, tokens, "threads=1", "ubatch=32", ...options], {
      encoding: "buffer",
      maxBuffer: 1 << 28,
    });
    return new Float32Array(stdout.buffer.slice(stdout.byteOffset, stdout.byteOffset + stdout.byteLength));
  }

  function farthest(a: Float32Array, b: Float32Array): number {
    assert.equal(a.length, b.length);
    assert.ok(a.every(Number.isFinite) && b.every(Number.isFinite));
    return a.reduce((most, value, at) => Math.max(most, Math.abs(value - b[at]!)), 0);
  }

  for (const architecture of ["llama", "gemma3", "gemma4"] as const) {
    const given = () => models.get(architecture)!;

    it(`${architecture}: without coding, a map changes nothing but rounding`, async () => {
      const { model, map } = given();
      const plain = await logits(model.path, ...uncoded);
      const mapped = await logits(model.path, ...uncoded, `map=${map}`);
      assert.notDeepEqual(mapped, plain);
      assert.ok(farthest(plain, mapped) < 2e-3, `logits differ by ${farthest(plain, mapped)}`);
      const other = join(folder, "wrong.map");
      await writeRandomMap(other, model, {
        tensors: (tensors) =>
          tensors.map((each) =>
            each.name.endsWith("key.mean")
              ? each
              : { ...each, values: each.values.map((v) => v * (each.name.endsWith("key.store") ? 1.1 : 1)) },
          ),
      });
      const wrong = await logits(model.path, ...uncoded, `map=${other}`);
      assert.ok(farthest(plain, wrong) > 2e-2, "a map that is not undone must show");
    });

    it(`${architecture}: flash attention sees the mapped cache too`, async () => {
      const { model, map } = given();
      const exact = await logits(model.path, ...uncoded);
      const plain = await logits(model.path);
      const mapped = await logits(model.path, `map=${map}`);
      // float16 rounds the mapped keys elsewhere, and the random means make them larger
      assert.ok(
        farthest(exact, mapped) < 6 * farthest(exact, plain),
        `${farthest(exact, mapped)} against ${farthest(exact, plain)}`,
      );
    });

    it(`${architecture}: a K shift unmaps, shifts and maps again`, async () => {
      const { model, map } = given();
      const plain = await logits(model.path, ...uncoded, "shift=16");
      const mapped = await logits(model.path, ...uncoded, "shift=16", `map=${map}`);
      assert.ok(farthest(plain, mapped) < 2e-3, `logits differ by ${farthest(plain, mapped)}`);
      const unshifted = await logits(model.path, ...uncoded, `map=${map}`);
      assert.ok(farthest(unshifted, mapped) > 1e-2, "the shift must show in what follows");
    });

    it(`${architecture}: sequences side by side have the same map`, async () => {
      const { model, map } = given();
      const alone = await logits(model.path, ...uncoded, `map=${map}`);
      const third = await logits(model.path, ...uncoded, "sequences=3", `map=${map}`);
      assert.ok(farthest(alone, third) < 2e-3, `logits differ by ${farthest(alone, third)}`);
    });

    it(`${architecture}: coded types stand behind the map`, async () => {
      const { model, map } = given();
      const plain = await logits(model.path, ...uncoded);
      const coded = await logits(model.path, "k=q8_0", "v=q8_0", `map=${map}`);
      const scale = Math.sqrt(plain.reduce((sum, value) => sum + value * value, 0) / plain.length);
      assert.ok(
        farthest(plain, coded) < 0.25 * scale,
        `logits differ by ${farthest(plain, coded)} at ${scale}`,
      );
    });

    it(`${architecture}: turbo4, whose tiles are narrower than the head, gives back what it stored`, async () => {
      const { model, map } = given();
      const exact = await logits(model.path, ...uncoded);
      const plain = await logits(model.path, "k=turbo4", "v=turbo4");
      const mapped = await logits(model.path, "k=turbo4", "v=turbo4", `map=${map}`);
      const deviation = (other: Float32Array) =>
        Math.sqrt(other.reduce((sum, value, at) => sum + (value - exact[at]!) ** 2, 0) / other.length);
      // the random map amplifies errors by its condition; dimensions that are not put back end near the logits' own size
      assert.ok(deviation(mapped) < 3 * deviation(plain), `${deviation(mapped)} against ${deviation(plain)}`);
    });
  }

  async function refusal(change: Parameters<typeof writeRandomMap>[2], keep?: number): Promise<string> {
    const { model } = models.get("gemma3")!;
    const path = join(folder, "refused.map");
    await writeRandomMap(path, model, change);
    if (keep !== undefined) await truncate(path, keep);
    const failed = await run(tool, [model.path, tokens, `map=${path}`], { encoding: "buffer" }).then(
      () => undefined,
      (error: { stderr: Buffer }) => error.stderr.toString(),
    );
    assert.ok(failed !== undefined, "the map was taken");
    return failed;
  }

  it("refuses what does not fit, and says what differs", async () => {
    const each = (value: number) => Array.from({ length: 6 }, () => value);
    assert.match(
      await refusal({ metadata: { "layers.kv_heads": each(3) } }),
      /MAP_MISMATCH: .*layer 0 has kv heads 3 in the map, 2 in the model/,
    );
    assert.match(
      await refusal({ metadata: { "layers.window": each(0) } }),
      /MAP_MISMATCH: .*layer 0 has a window of 0 in the map, 24 in the model/,
    );
    assert.match(
      await refusal({ tensors: (tensors) => tensors.filter(({ name }) => name !== "blk.4.key.read") }),
      /MAP_MISMATCH: .*no blk\.4\.key\.read/,
    );
    assert.match(await refusal({ metadata: { "layers.source": [0, 1, 2] } }), /MAP_MISMATCH: .*3 layers/);
    assert.match(await refusal({ metadata: { "map.version": 9 } }), /MAP_MISMATCH: .*version 9/);
    assert.match(
      await refusal({ metadata: { "layers.source": [0, 0, 2, 3, 4, 5] } }),
      /MAP_MISMATCH: .*layer 1 has its own cache/,
    );
  });

  it("refuses what is damaged", async () => {
    assert.match(
      await refusal({
        tensors: (tensors) =>
          tensors.map((tensor) =>
            tensor.name === "blk.2.value.store"
              ? {
                  ...tensor,
                  values: tensor.values.map((v, at) => (at === 77 ? Number.NaN : v)) as Float32Array,
                }
              : tensor,
          ),
      }),
      /MAP_INVALID: .*blk\.2\.value\.store holds NaN/,
    );
    assert.match(await refusal({}, 500_000), /MAP_INVALID: .*cut/);
    assert.match(await refusal({}, 100), /MAP_INVALID/);
    assert.match(await refusal({ metadata: { "general.type": "model" } }), /MAP_INVALID: .*no learned map/);
  });
});
