import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type AttentionInput, attention, CodecError, format } from "../src/index.ts";
import { gaussianRows } from "./measure-format.ts";

const HEAD_DIM = 64;
const HEADS = 4;
const KV_HEADS = 2;
const TOKENS = 24;
const POSITIONS = 5;
const keyFormat = format("turbo4", HEAD_DIM);
const valueFormat = format("turbo3", HEAD_DIM);

function flat(rows: readonly (Float32Array | Uint8Array)[]): number[] {
  return rows.flatMap((row) => [...row]);
}

const keys = gaussianRows(HEAD_DIM, KV_HEADS * TOKENS, 1n).map((row) => keyFormat.encode(row));
const values = gaussianRows(HEAD_DIM, KV_HEADS * TOKENS, 2n).map((row) => valueFormat.encode(row));
const queries = gaussianRows(HEAD_DIM, POSITIONS * HEADS, 3n);
const base: AttentionInput = {
  keyFormat,
  valueFormat,
  heads: HEADS,
  kvHeads: KV_HEADS,
  tokens: TOKENS,
  positions: POSITIONS,
  queries: Float32Array.from(flat(queries)),
  keys: Uint8Array.from(flat(keys)),
  values: Uint8Array.from(flat(values)),
};

/** The plain definition over decoded rows, for tokens that `sees` lets through. */
function byDefinition(
  logitOf: (dot: number) => number,
  sees: (position: number, token: number) => boolean,
): number[] {
  const out: number[] = [];
  for (let p = 0; p < POSITIONS; p++) {
    for (let h = 0; h < HEADS; h++) {
      const kv = h >> 1;
      const weights = Array.from({ length: TOKENS }, (_, t) => {
        if (!sees(p, t)) return 0;
        const key = keyFormat.decode(keys[kv * TOKENS + t]!);
        const dot = queries[p * HEADS + h]!.reduce((sum, value, i) => sum + value * key[i]!, 0);
        return Math.exp(logitOf(dot));
      });
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      const mixed = new Array<number>(HEAD_DIM).fill(0);
      for (let t = 0; t < TOKENS; t++) {
        const value = valueFormat.decode(values[kv * TOKENS + t]!);
        for (let i = 0; i < HEAD_DIM; i++) mixed[i]! += total > 0 ? (weights[t]! / total) * value[i]! : 0;
      }
      out.push(...mixed);
    }
  }
  return out;
}

function close(found: Float64Array, wanted: readonly number[]): void {
  assert.equal(found.length, wanted.length);
  wanted.forEach((value, i) => {
    assert.ok(Math.abs(found[i]! - value) < 1e-12, `element ${i}: ${found[i]}, expected ${value}`);
  });
}

const scaled = (dot: number) => dot / 8;
const first = TOKENS - POSITIONS;

describe("attention over encoded rows", () => {
  test("grouped-query heads", () =>
    close(
      attention(base),
      byDefinition(scaled, () => true),
    ));
  test("causal", () => {
    close(
      attention({ ...base, causal: true }),
      byDefinition(scaled, (p, t) => t <= first + p),
    );
  });
  test("causal from a given first position", () => {
    close(
      attention({ ...base, causal: true, firstPosition: 2 }),
      byDefinition(scaled, (p, t) => t <= 2 + p),
    );
  });
  test("sliding window", () => {
    const sees = (p: number, t: number) => t <= first + p && first + p - t < 6;
    close(attention({ ...base, causal: true, window: 6 }), byDefinition(scaled, sees));
  });
  test("logit soft-cap and a given scale", () => {
    const capped = (dot: number) => 2 * Math.tanh((dot * 0.3) / 2);
    close(
      attention({ ...base, scale: 0.3, softCap: 2 }),
      byDefinition(capped, () => true),
    );
  });
  test("an additive mask, −Infinity hides, a fully hidden row gives zeros", () => {
    const mask = new Float32Array(POSITIONS * TOKENS);
    mask.forEach((_, i) => {
      if (i % 3 === 0 || i < TOKENS) mask[i] = Number.NEGATIVE_INFINITY;
    });
    const out = attention({ ...base, mask });
    close(
      out,
      byDefinition(scaled, (p, t) => mask[p * TOKENS + t] === 0),
    );
    assert.ok(out.subarray(0, HEADS * HEAD_DIM).every((value) => value === 0));
  });
  test("no tokens at all gives zeros", () => {
    const none = { ...base, tokens: 0, keys: new Uint8Array(0), values: new Uint8Array(0) };
    assert.ok(attention(none).every((value) => value === 0));
  });
  test("queries that are prepared already give the same within float32 of the rotation", () => {
    const prepared = Float32Array.from(flat(queries.map((query) => keyFormat.prepareQuery(query))));
    const plain = attention(base);
    attention({ ...base, queries: prepared, prepared: true }).forEach((value, i) => {
      assert.ok(Math.abs(value - plain[i]!) < 1e-6);
    });
  });
  test("a NaN scale shows in every head that sees it, and only there", () => {
    const marked = base.keys.slice();
    marked.set(keyFormat.encode(new Float32Array(HEAD_DIM).fill(Number.NaN), { nonFinite: "mark" }));
    const out = attention({ ...base, keys: marked });
    for (let h = 0; h < HEADS; h++) assert.equal(Number.isNaN(out[h * HEAD_DIM]), h < HEADS / 2);
  });
  test("shapes that do not fit are typed errors", () => {
    for (const wrong of [
      { heads: 3 },
      { positions: 6 },
      { keys: new Uint8Array(1) },
      { mask: new Float32Array(2) },
    ]) {
      assert.throws(
        () => attention({ ...base, ...wrong }),
        (error) => error instanceof CodecError && error.code === "ATTENTION_SHAPE",
      );
    }
  });
});
