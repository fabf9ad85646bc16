import { attention } from "../src/attention.ts";
import { format } from "../src/format.ts";
import { lcgGaussians, take } from "../src/gaussian-stream.ts";
import { sha256 } from "../src/sha256.ts";
import { concatenate } from "./golden-rows.ts";

interface AttentionCase {
  readonly name: string;
  readonly k_type: string;
  readonly v_type: string;
  readonly head_dim: number;
  readonly n_heads: number;
  readonly n_kv_heads: number;
  readonly n_kv: number;
  readonly n_q_pos: number;
  readonly causal?: boolean;
  readonly q_pos_base?: number;
  readonly window?: number;
  readonly soft_cap?: number;
  /** Hide every third token, and all tokens of position 0. */
  readonly masked?: boolean;
}

const grouped = { n_heads: 4, n_kv_heads: 2 };
const CASES: readonly AttentionCase[] = [
  {
    name: "one-head",
    k_type: "turbo4",
    v_type: "turbo4",
    head_dim: 128,
    n_heads: 1,
    n_kv_heads: 1,
    n_kv: 65,
    n_q_pos: 1,
  },
  {
    name: "causal-64",
    k_type: "turbo4_tcq",
    v_type: "turbo3_tcq",
    head_dim: 64,
    n_heads: 9,
    n_kv_heads: 3,
    n_kv: 40,
    n_q_pos: 7,
    causal: true,
  },
  {
    name: "causal-96",
    k_type: "turbo4",
    v_type: "tbq3",
    head_dim: 96,
    ...grouped,
    n_kv: 33,
    n_q_pos: 4,
    causal: true,
  },
  {
    name: "causal-128",
    k_type: "turbo3_tcq",
    v_type: "turbo2_tcq",
    head_dim: 128,
    ...grouped,
    n_kv: 50,
    n_q_pos: 5,
    causal: true,
  },
  {
    name: "window-256",
    k_type: "turbo4",
    v_type: "turbo3",
    head_dim: 256,
    n_heads: 4,
    n_kv_heads: 1,
    n_kv: 48,
    n_q_pos: 3,
    causal: true,
    window: 16,
  },
  {
    name: "wide-512",
    k_type: "turbo4_tcq",
    v_type: "turbo4",
    head_dim: 512,
    n_heads: 2,
    n_kv_heads: 1,
    n_kv: 32,
    n_q_pos: 2,
    causal: true,
  },
  {
    name: "soft-cap",
    k_type: "tbq3",
    v_type: "q4_polar",
    head_dim: 128,
    ...grouped,
    n_kv: 40,
    n_q_pos: 3,
    soft_cap: 3,
  },
  {
    name: "masked",
    k_type: "turbo3",
    v_type: "turbo4",
    head_dim: 64,
    ...grouped,
    n_kv: 31,
    n_q_pos: 4,
    masked: true,
  },
  {
    name: "first-token",
    k_type: "q4_polar",
    v_type: "turbo3_tcq",
    head_dim: 128,
    ...grouped,
    n_kv: 20,
    n_q_pos: 2,
    causal: true,
    q_pos_base: 0,
  },
  {
    name: "qjl-keys",
    k_type: "qjl1_256",
    v_type: "turbo4_tcq",
    head_dim: 128,
    ...grouped,
    n_kv: 40,
    n_q_pos: 2,
    causal: true,
  },
  {
    name: "mixed-4",
    k_type: "turbo4_mix",
    v_type: "turbo4_tcq",
    head_dim: 128,
    ...grouped,
    n_kv: 40,
    n_q_pos: 2,
    causal: true,
  },
  {
    name: "mixed-3-64",
    k_type: "turbo3_mix",
    v_type: "turbo3_tcq",
    head_dim: 64,
    n_heads: 9,
    n_kv_heads: 3,
    n_kv: 40,
    n_q_pos: 2,
    causal: true,
  },
  {
    name: "mixed-2-256",
    k_type: "turbo2_mix",
    v_type: "turbo2_tcq",
    head_dim: 256,
    n_heads: 4,
    n_kv_heads: 1,
    n_kv: 32,
    n_q_pos: 2,
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
    const keyFormat = format(c.k_type, c.head_dim);
    const valueFormat = format(c.v_type, c.head_dim);
    const rows = (count: number) => Array.from({ length: count }, () => take(gaussian, c.head_dim));
    const queries = Float32Array.from(rows(c.n_q_pos * c.n_heads).flatMap((row) => [...row]));
    const keys = concatenate(rows(c.n_kv_heads * c.n_kv).map((row) => keyFormat.encode(row)));
    const values = concatenate(rows(c.n_kv_heads * c.n_kv).map((row) => valueFormat.encode(row)));
    const mask = c.masked ? maskOf(c.n_q_pos, c.n_kv) : undefined;
    const firstPosition = c.q_pos_base ?? c.n_kv - c.n_q_pos;
    const out = attention({
      keyFormat,
      valueFormat,
      heads: c.n_heads,
      kvHeads: c.n_kv_heads,
      tokens: c.n_kv,
      positions: c.n_q_pos,
      queries,
      keys,
      values,
      firstPosition,
      ...(c.causal ? { causal: true } : {}),
      ...(c.window ? { window: c.window } : {}),
      ...(c.soft_cap ? { softCap: c.soft_cap } : {}),
      ...(mask ? { mask } : {}),
    });
    return {
      ...c,
      q_pos_base: firstPosition,
      k_hash: keyFormat.hash,
      v_hash: valueFormat.hash,
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
