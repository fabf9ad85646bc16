import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { ensureNativeLibrary } from "@eliza-inference/build";
import { normals, writeRandomMap, writeTinyModel } from "../map/tiny-model.ts";

const run = promisify(execFile);
const architectures = ["llama", "gemma3", "gemma4"] as const;
const tokenCount = 90;

/** A few latest and first tokens: most keys stay coded, and every query has a window of its own. */
const small = "exact=12,2";

describe("the exact window in the engine's graph", () => {
  let folder: string;
  let tool: string;
  let tokens: string;
  const models = new Map<string, { path: string; map: string }>();

  before(async () => {
    tool = (await ensureNativeLibrary()).tool("eliza-logits");
    folder = await mkdtemp(join(tmpdir(), "eliza-window-"));
    tokens = join(folder, "tokens.txt");
    const draw = normals(7);
    const ids = Array.from({ length: tokenCount }, () => Math.floor(Math.abs(draw()) * 4000) % 128);
    await writeFile(tokens, ids.join(" "));
    for (const architecture of architectures) {
      const model = await writeTinyModel(folder, architecture);
      const map = join(folder, `${architecture}.map`);
      await writeRandomMap(map, model);
      models.set(architecture, { path: model.path, map });
    }
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function logits(architecture: string, ...options: string[]): Promise<Float32Array> {
    const { path } = models.get(architecture)!;
    const { stdout } = await run(tool, [path, tokens, "threads=1", "ubatch=32", ...options], {
      encoding: "buffer",
      maxBuffer: 1 << 28,
    });
    return new Float32Array(stdout.buffer.slice(stdout.byteOffset, stdout.byteOffset + stdout.byteLength));
  }

  /** Root of the mean square of the difference, as a share of the first's own. */
  function apart(a: Float32Array, b: Float32Array): number {
    assert.equal(a.length, b.length);
    assert.ok(a.every(Number.isFinite) && b.every(Number.isFinite));
    let [difference, size] = [0, 0];
    for (const [at, value] of a.entries()) {
      difference += (value - b[at]!) ** 2;
      size += value * value;
    }
    return Math.sqrt(difference / size);
  }

  for (const architecture of architectures) {
    const coded = [
      "q4_0",
      "q8_0",
      "iq4_nl",
      "turbo4",
      "tbq3",
      "turbo3",
      "turbo3_tcq",
      "turbo2_tcq",
      "q4_polar",
    ];

    it(`${architecture}: a window as large as the context is an f16 cache, whatever the type`, async () => {
      const truth = await logits(architecture, "k=f32", "v=f32", "flash=0");
      const f16 = apart(truth, await logits(architecture));
      const unlike: string[] = [];
      for (const type of coded) {
        const codes = await typesFor(architecture, type);
        if (codes === undefined) continue;
        const plain = apart(truth, await logits(architecture, ...codes));
        for (const how of [["ubatch=32"], ["ubatch=1"], ["step=7"], ["ubatch=32", "step=41"]]) {
          const window = apart(truth, await logits(architecture, ...codes, "exact=4096,0", ...how));
          // rounded to f16 in the basis of the type's rotation, so not to the same values
          if (window > 1.5 * f16 || window > plain / 4) {
            unlike.push(`${type} ${how.join(" ")}: ${window}, f16 ${f16}, plain ${plain}`);
          }
        }
      }
      assert.deepEqual(unlike, []);
    });

    // Other batches round otherwise, which moves a code here and there; a window that is one token off moves far more.
    it(`${architecture}: every query has its own window, whatever batch it comes in`, async () => {
      const codes = (await typesFor(architecture, "q4_0"))!;
      const single = await logits(architecture, ...codes, small, "step=1");
      const shorter = apart(single, await logits(architecture, ...codes, "exact=11,2", "step=1"));
      const f16 = await logits(architecture, "step=1");
      const plain = apart(f16, await logits(architecture, ...codes, "step=1"));
      assert.ok(apart(f16, single) < plain, "the window must make the cache better");
      for (const how of [["step=5"], ["step=16"], ["ubatch=32"], ["ubatch=90"], ["step=33", "ubatch=16"]]) {
        const batched = apart(single, await logits(architecture, ...codes, small, ...how));
        assert.ok(batched < shorter / 3, `${how.join(" ")}: ${batched}, a token less: ${shorter}`);
      }
    });

    it(`${architecture}: sequences have windows of their own, in one stream of cells and in several`, async () => {
      const codes = (await typesFor(architecture, "q4_0"))!;
      const single = await logits(architecture, ...codes, small, "step=1");
      const shorter = apart(single, await logits(architecture, ...codes, "exact=11,2", "step=1"));
      for (const how of ["step=1", "step=7", "step=30"]) {
        for (const shared of ["unified=0", "unified=1"]) {
          const eighth = await logits(architecture, ...codes, small, how, "sequences=8", shared);
          assert.ok(
            apart(single, eighth) < shorter / 3,
            `${how} ${shared}: ${apart(single, eighth)} of ${shorter}`,
          );
        }
      }
    });

    it(`${architecture}: a K shift takes exact rows away and nothing else`, async () => {
      const codes = (await typesFor(architecture, "q8_0"))!;
      const options = ["shift=16", "step=10"];
      const f16 = await logits(architecture, ...options);
      const plain = await logits(architecture, ...codes, ...options);
      const window = await logits(architecture, ...codes, ...options, small);
      assert.ok(
        apart(f16, window) < 1.2 * apart(f16, plain),
        `${apart(f16, window)}, plain ${apart(f16, plain)}`,
      );
    });

    it(`${architecture}: exact rows stand behind a map too`, async () => {
      const codes = (await typesFor(architecture, "q8_0"))!;
      const { map } = models.get(architecture)!;
      const truth = await logits(architecture, "k=f32", "v=f32", "flash=0", `map=${map}`);
      const f16 = apart(truth, await logits(architecture, `map=${map}`));
      const window = apart(truth, await logits(architecture, ...codes, `map=${map}`, "exact=4096,0"));
      assert.ok(window < 1.5 * f16, `${window}, f16 ${f16}`);
    });
  }

  /** Options for K and V of that type in the tile that fits; undefined where none does. */
  async function typesFor(architecture: string, type: string): Promise<string[] | undefined> {
    for (const name of [type, `${type}_64`, `${type}_32`]) {
      const options = [`k=${name}`, `v=${name}`];
      const fits = await logits(architecture, ...options).then(
        () => true,
        () => false,
      );
      if (fits) return options;
    }
    return undefined;
  }
});
