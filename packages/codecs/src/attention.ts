import { CodecError } from "./codec-error.ts";
import type { KvFormat } from "./kv-format.ts";

/** Encoded K and V of a head group, and how to attend to them. */
export interface AttentionInput {
  readonly keyFormat: KvFormat;
  readonly valueFormat: KvFormat;
  /** Query heads; a multiple of kvHeads (grouped-query attention: head h reads KV head h·kvHeads/heads). */
  readonly heads: number;
  readonly kvHeads: number;
  /** Cached tokens. */
  readonly tokens: number;
  /** Query positions. */
  readonly positions: number;
  /** [positions, heads, headDim], or [positions, heads, rotatedDim] when `prepared`. */
  readonly queries: Float32Array;
  /** Whether `queries` are in the coded basis of keyFormat already. Defaults to false. */
  readonly prepared?: boolean;
  /** [kvHeads, tokens] encoded rows. */
  readonly keys: Uint8Array;
  /** [kvHeads, tokens] encoded rows. */
  readonly values: Uint8Array;
  /** Factor on q·k. Defaults to 1/√headDim. */
  readonly scale?: number;
  /** Query position i is token firstPosition + i and sees no later token. Defaults to false. */
  readonly causal?: boolean;
  /** Defaults to tokens − positions. */
  readonly firstPosition?: number;
  /** Tokens a position looks back on, itself included; 0 or left out: all. */
  readonly window?: number;
  /** Logits become softCap · tanh(logit / softCap), before masks; 0 or left out: none. */
  readonly softCap?: number;
  /** [positions, tokens], added to the logits; −Infinity hides a token. */
  readonly mask?: Float32Array;
}

function expectLength(what: string, found: number, expected: number): void {
  if (found === expected) return;
  throw new CodecError(
    "ATTENTION_SHAPE",
    `${what} has ${found} elements, expected ${expected}`,
    "Shapes are [positions, heads, dim] for queries and [kvHeads, tokens] rows for keys and values.",
  );
}

function checkShapes(input: AttentionInput, queryDim: number): void {
  const { heads, kvHeads, tokens, positions, keyFormat, valueFormat } = input;
  if (kvHeads <= 0 || heads % kvHeads !== 0) {
    throw new CodecError(
      "ATTENTION_SHAPE",
      `${heads} query heads cannot share ${kvHeads} KV heads`,
      "heads must be a multiple of kvHeads.",
    );
  }
  expectLength("queries", input.queries.length, positions * heads * queryDim);
  expectLength("keys", input.keys.length, kvHeads * tokens * keyFormat.rowBytes);
  expectLength("values", input.values.length, kvHeads * tokens * valueFormat.rowBytes);
  if (input.mask) expectLength("mask", input.mask.length, positions * tokens);
}

function decodeRows(
  decode: (bytes: Uint8Array) => Float32Array,
  bytes: Uint8Array,
  rowBytes: number,
): Float32Array[] {
  return Array.from({ length: bytes.length / rowBytes }, (_, row) =>
    decode(bytes.subarray(row * rowBytes, (row + 1) * rowBytes)),
  );
}

function dot64(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** Whether position `position` may look at token `token`. */
function visible(input: AttentionInput, position: number, token: number): boolean {
  if (input.causal && token > position) return false;
  return !input.window || position - token < input.window;
}

/**
 * softmax(scale · q·k + mask) · v in float64 over encoded rows: [positions, heads, valueFormat.headDim].
 * A row whose tokens are all hidden gives zeros; a NaN scale in a visible row gives NaN.
 * Throws CodecError ATTENTION_SHAPE.
 */
export function attention(input: AttentionInput): Float64Array {
  const { keyFormat, valueFormat, heads, kvHeads, tokens, positions, prepared = false } = input;
  const queryDim = prepared ? keyFormat.rotatedDim : keyFormat.headDim;
  checkShapes(input, queryDim);
  const scale = input.scale ?? 1 / Math.sqrt(keyFormat.headDim);
  const firstPosition = input.firstPosition ?? tokens - positions;
  const keys = decodeRows(
    prepared ? keyFormat.decodeRotated : keyFormat.decode,
    input.keys,
    keyFormat.rowBytes,
  );
  const values = decodeRows(valueFormat.decode, input.values, valueFormat.rowBytes);
  const valueDim = valueFormat.headDim;
  const out = new Float64Array(positions * heads * valueDim);
  const logits = new Float64Array(tokens);
  for (let p = 0; p < positions; p++) {
    for (let h = 0; h < heads; h++) {
      const kvRow = Math.floor((h * kvHeads) / heads) * tokens;
      const at = (p * heads + h) * queryDim;
      const query = input.queries.subarray(at, at + queryDim);
      let largest = Number.NEGATIVE_INFINITY;
      for (let t = 0; t < tokens; t++) {
        let logit = Number.NEGATIVE_INFINITY;
        const added = input.mask?.[p * tokens + t] ?? 0;
        if (added !== Number.NEGATIVE_INFINITY && visible(input, firstPosition + p, t)) {
          logit = scale * dot64(query, keys[kvRow + t]!);
          if (input.softCap) logit = input.softCap * Math.tanh(logit / input.softCap);
          logit += added;
        }
        logits[t] = logit;
        largest = Math.max(largest, logit);
      }
      if (largest === Number.NEGATIVE_INFINITY) continue;
      const row = out.subarray((p * heads + h) * valueDim, (p * heads + h + 1) * valueDim);
      let total = 0;
      for (let t = 0; t < tokens; t++) {
        if (logits[t] === Number.NEGATIVE_INFINITY) continue;
        const weight = Math.exp(logits[t]! - largest);
        total += weight;
        const value = values[kvRow + t]!;
        for (let i = 0; i < valueDim; i++) row[i]! += weight * value[i]!;
      }
      for (let i = 0; i < valueDim; i++) row[i]! /= total;
    }
  }
  return out;
}
