import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { ensureNativeLibrary, type NativeLibrary } from "../src/index.ts";

const PICO = fileURLToPath(new URL("../../../models/pico/pico.gguf", import.meta.url));
/** Any ids do: what is compared is arithmetic. */
const TOKENS = Array.from({ length: 129 }, (_, i) => (i * 37 + 11) % 1000);

interface Score {
  cache: string;
  kl: number;
  top1: number;
  perplexityRatio: number;
  positions: number;
}

describe("eliza-quality", () => {
  let library: NativeLibrary;
  let folder = "";
  before(async () => {
    library = await ensureNativeLibrary();
    folder = await mkdtemp(join(tmpdir(), "quality-"));
    await writeFile(join(folder, "chunk"), TOKENS.join(" "));
    await writeFile(join(folder, "tokens"), TOKENS.slice(0, -1).join(" "));
  });
  after(() => rm(folder, { recursive: true }));

  const lines = (...args: string[]): Record<string, unknown>[] =>
    execFileSync(
      library.tool("eliza-quality"),
      [PICO, join(folder, "chunk"), `scratch=${join(folder, "logits")}`, "threads=1", ...args],
      { encoding: "utf8" },
    )
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  const scores = (...args: string[]): Score[] =>
    lines(...args).filter((line) => "kl" in line) as unknown as Score[];
  const logits = (k: string, v: string): Float32Array => {
    const bytes = execFileSync(
      library.tool("eliza-logits"),
      [PICO, join(folder, "tokens"), `k=${k}`, `v=${v}`, "threads=1"],
      { maxBuffer: 1 << 28 },
    );
    return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  };

  test("says what float64 says about the logits of two caches", () => {
    const [score] = scores("start=0", "q4_0/q8_0");
    const expected = compare(logits("f16", "f16"), logits("q4_0", "q8_0"));
    assert.equal(score!.positions, TOKENS.length - 1);
    assert.ok(expected.kl > 1e-6);
    assert.ok(Math.abs(score!.kl - expected.kl) < 1e-4 * expected.kl + 1e-8, `${score!.kl}, ${expected.kl}`);
    assert.ok(Math.abs(score!.top1 - expected.top1) < 1e-9);
    assert.ok(Math.abs(score!.perplexityRatio - expected.perplexityRatio) < 1e-5);
  });

  test("an f16 cache does not diverge from itself, and coarser types diverge more", () => {
    const float32 = `float32=${join(folder, "float32.gguf")}`;
    const [same, fine, coarse] = scores("start=16", float32, "f16/f16", "q8_0/q8_0", "turbo2_tcq/turbo2_tcq");
    assert.deepEqual([same!.kl, same!.top1, same!.perplexityRatio], [0, 1, 1]);
    assert.ok(fine!.kl > 0 && fine!.kl < coarse!.kl / 10, `${fine!.kl}, ${coarse!.kl}`);
  });

  // A value between two codes may take the other one where sums run in another order, and later divergences with it.
  test("each query has its own exact window: one token at a time scores as whole batches do", () => {
    const float32 = `float32=${join(folder, "float32.gguf")}`;
    const types = ["turbo3_tcq/turbo3_tcq", "q4_0/q4_0"];
    const asked = types.flatMap((name) => [`${name}~16,2@1`, `${name}~16,2@8`, `${name}~16,2`, name]);
    const found = scores("start=64", float32, ...asked);
    for (let at = 0; at < found.length; at += 4) {
      const [single, few, whole, without] = found.slice(at, at + 4).map(({ kl }) => kl);
      assert.ok(Math.abs(few! / single! - 1) < 0.05, `${few} at 8, ${single} at 1`);
      assert.ok(Math.abs(whole! / single! - 1) < 0.05, `${whole} whole, ${single} at 1`);
      assert.ok(single! < without! / 2, `${single} with the window, ${without} without`);
    }
  });

  test("pieces side by side score as one after the other, piece by piece", async () => {
    const pieces = [3, 5, 7].map((step) => TOKENS.map((_, i) => (i * step * 37 + 11) % 1000).join(" "));
    await writeFile(join(folder, "pieces"), pieces.join("\n"));
    const blocks = (streams: number) =>
      execFileSync(
        library.tool("eliza-quality"),
        [
          ...[PICO, join(folder, "pieces"), `scratch=${join(folder, "logits")}`, "threads=1", "start=64"],
          ...[`float32=${join(folder, "float32.gguf")}`, `streams=${streams}`, "reference=q8_0/q8_0"],
          ...["q4_0/q4_0@8", "turbo4/turbo4~16,2@8"],
        ],
        { encoding: "utf8" },
      )
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { chunks: number; klBlocks?: number[]; lossBlocks: number[] })
        .filter((line) => line.chunks === 3 && line.klBlocks)
        .map(({ klBlocks, lossBlocks }) => [klBlocks!, lossBlocks]);
    const [alone, abreast] = [blocks(1), blocks(2)]; // two side by side, and one
    assert.equal(alone.length, 2);
    for (const [cache, [kl, loss]] of alone.entries()) {
      assert.equal(kl!.length, 3);
      for (const [at, value] of kl!.entries()) {
        assert.ok(
          Math.abs(abreast[cache]![0]![at]! - value) < 1e-4 * value,
          `${at}: ${abreast[cache]![0]}, ${kl}`,
        );
        assert.ok(Math.abs(abreast[cache]![1]![at]! - loss![at]!) < 1e-3);
      }
    }
  });

  test("moves the keys ten times, and refuses where they cannot be moved", () => {
    const moved = lines("start=16", "shifts=10", "f16/f16", "turbo4/f16", "qjl1_256/f16");
    const [exact, turbo4] = moved.filter((line) => "kl" in line) as unknown as Score[];
    assert.ok(Number.isFinite(turbo4!.kl) && turbo4!.kl > exact!.kl);
    assert.deepEqual(
      moved.filter((line) => "refused" in line),
      [{ refused: "qjl1_256/f16", reason: "its keys cannot be shifted" }],
    );
  });
});

/** Mean over positions, in float64 and without any of the tool's shortcuts. */
function compare(p: Float32Array, q: Float32Array): { kl: number; top1: number; perplexityRatio: number } {
  const count = TOKENS.length - 1;
  const vocabulary = p.length / count;
  let [kl, same, excess] = [0, 0, 0];
  for (let position = 0; position < count; position++) {
    const rows = [p, q].map((all) => {
      const row = Array.from(all.subarray(position * vocabulary, (position + 1) * vocabulary));
      const top = row.reduce((a, b) => Math.max(a, b));
      const log = Math.log(row.reduce((sum, logit) => sum + Math.exp(logit - top), 0)) + top;
      return { logs: row.map((logit) => logit - log), best: row.indexOf(top) };
    });
    const [a, b] = [rows[0]!, rows[1]!];
    kl += a.logs.reduce((sum, log, i) => sum + Math.exp(log) * (log - b.logs[i]!), 0) / count;
    same += a.best === b.best ? 1 / count : 0;
    excess += (a.logs[TOKENS[position + 1]!]! - b.logs[TOKENS[position + 1]!]!) / count;
  }
  return { kl, top1: same, perplexityRatio: Math.exp(excess) };
}
