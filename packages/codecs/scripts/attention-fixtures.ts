import { attention } from "../src/attention.ts";
import { format } from "../src/format.ts";
import { lcgGaussians, take } from "../src/gaussian-stream.ts";
import { sha256 } from "../src/sha256.ts";
import { concatenate } from "./golden-rows.ts";

interface AttentionCase {
  readonly name: string;
  readonly key_type: string;
  readonly value_type: string;
  readonly head_dim: number;
  readonly heads: number;
  readonly kv_heads: number;
  readonly tokens: number;
  readonly positions: number;
  readonly causal?: boolean;
  readonly first_position?: number;
  readonly window?: number;
  readonly soft_cap?: number;
  /** Hide every third token, and all tokens of position 0. */
  readonly masked?: boolean;
}

const grouped = { heads: 4, kv_heads: 2 };
const CASES: readonly AttentionCase[] = [
  {
    name: "one-head",
    key_type: "turbo4",
    value_type: "turbo4",
    head_dim: 128,
    heads: 1,
    kv_heads: 1,
    tokens: 65,
    positions: 1,
  },
  {
    name: "causal-64",
    key_type: "turbo4_tcq",
    value_type: "turbo3_tcq",
    head_dim: 64,
    heads: 9,
    kv_heads: 3,
    tokens: 40,
    positions: 7,
    causal: true,
  },
  {
    name: "causal-96",
    key_type: "turbo4",
    value_type: "tbq3",
    head_dim: 96,
    ...grouped,
    tokens: 33,
    positions: 4,
    causal: true,
  },
  {
    name: "causal-128",
    key_type: "turbo3_tcq",
    value_type: "turbo2_tcq",
    head_dim: 128,
    ...grouped,
    tokens: 50,
    positions: 5,
    causal: true,
  },
  {
    name: "window-256",
    key_type: "turbo4",
    value_type: "turbo3",
    head_dim: 256,
    heads: 4,
    kv_heads: 1,
    tokens: 48,
    positions: 3,
    causal: true,
    window: 16,
  },
  {
    name: "wide-512",
    key_type: "turbo4_tcq",
    value_type: "turbo4",
    head_dim: 512,
    heads: 2,
    kv_heads: 1,
    tokens: 32,
    positions: 2,
    causal: true,
  },
  {
    name: "soft-cap",
    key_type: "tbq3",
    value_type: "q4_polar",
    head_dim: 128,
    ...grouped,
    tokens: 40,
    positions: 3,
    soft_cap: 3,
  },
  {
    name: "masked",
    key_type: "turbo3",
    value_type: "turbo4",
    head_dim: 64,
    ...grouped,
    tokens: 31,
    positions: 4,
    masked: true,
  },
  {
    name: "first-token",
    key_type: "q4_polar",
    value_type: "turbo3_tcq",
    head_dim: 128,
    ...grouped,
    tokens: 20,
    positions: 2,
    causal: true,
    first_position: 0,
  },
  {
    name: "qjl-keys",
    key_type: "qjl1_256",
    value_type: "turbo4_tcq",
    head_dim: 128,
    ...grouped,
    tokens: 40,
    positions: 2,
    causal: true,
  },
  {
    name: "mixed-4",
    key_type: "turbo4_mix",
    value_type: "turbo4_tcq",
    head_dim: 128,
    ...grouped,
    tokens: 40,
    positions: 2,
    causal: true,
  },
  {
    name: "mixed-3-64",
    key_type: "turbo3_mix",
    value_type: "turbo3_tcq",
    head_dim: 64,
    heads: 9,
    kv_heads: 3,
    tokens: 40,
    positions: 2,
    causal: true,
  },
  {
    name: "mixed-2-256",
    key_type: "turbo2_mix",
    value_type: "turbo2_tcq",
    head_dim: 256,
    heads: 4,
    kv_heads: 1,
    tokens: 32,
    positions: 2,
    causal: true,
  },
];

function maskOf(positions: number, tokens: number): Float32Array {
  return Float32Array.from({ length: positions * tokens }, (_, i) =>
    i < tokens || i % 3 === 0 ? Number.NEGATIVE_INFINITY : 0,
  );
}

/** fixtures/attention: encoded K and V, queries in the original basis, outputs of the float64 reference. */
export function attentionFixtures(): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const store = (file: string, bytes: Uint8Array) => {
    files.set(file, bytes);
    return { file, sha256: sha256(bytes) };
  };
  const cases = CASES.map((c, index) => {
    const gaussian = lcgGaussians(0xa77e0000n + BigInt(index));
    const keyFormat = format(c.key_type, c.head_dim);
    const valueFormat = format(c.value_type, c.head_dim);
    const rows = (count: number) => Array.from({ length: count }, () => take(gaussian, c.head_dim));
    const queries = Float32Array.from(rows(c.positions * c.heads).flatMap((row) => [...row]));
    const keys = concatenate(rows(c.kv_heads * c.tokens).map((row) => keyFormat.encode(row)));
    const values = concatenate(rows(c.kv_heads * c.tokens).map((row) => valueFormat.encode(row)));
    const mask = c.masked ? maskOf(c.positions, c.tokens) : undefined;
    const firstPosition = c.first_position ?? c.tokens - c.positions;
    const out = attention({
      ...{
        keyFormat,
        valueFormat,
        heads: c.heads,
        kvHeads: c.kv_heads,
        tokens: c.tokens,
        positions: c.positions,
      },
      ...{ queries, keys, values, firstPosition },
      ...(c.causal ? { causal: true } : {}),
      ...(c.window ? { window: c.window } : {}),
      ...(c.soft_cap ? { softCap: c.soft_cap } : {}),
      ...(mask ? { mask } : {}),
    });
    return {
      ...c,
      first_position: firstPosition,
      key_hash: keyFormat.hash,
      value_hash: valueFormat.hash,
      q: store(`${c.name}.q.f32`, concatenate([queries])),
      k_blocks: store(`${c.name}.k.bin`, keys),
      v_blocks: store(`${c.name}.v.bin`, values),
      ...(mask ? { mask: store(`${c.name}.mask.f32`, concatenate([mask])) } : {}),
      expected_out: store(`${c.name}.out.f32`, concatenate([Float32Array.from(out)])),
    };
  });
  files.set("index.json", new TextEncoder().encode(`${JSON.stringify({ cases }, null, 1)}\n`));
  return files;
}
