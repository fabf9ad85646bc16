import { attention } from "../src/attention.ts";
import { format } from "../src/format.ts";
import { lcgGaussians, take } from "../src/gaussian-stream.ts";
import { composeFormat, type KvFormat } from "../src/kv-format.ts";
import { qjl1x256 } from "../src/qjl.ts";
import { iidProjection, QJL_SEEDS } from "../src/qjl-projection.ts";
import { concatenate } from "./golden-rows.ts";
import { fixtureJson, type JsonFields } from "./seed-json.ts";

const WIDTH = 128;
const ROWS = 8;
const SOFTMAX_SCALE = Math.fround(0.08838834764831845);
const FUSED_CASES = [
  { heads: 1, kvHeads: 1, tokens: 64 },
  { heads: 4, kvHeads: 2, tokens: 512 },
  { heads: 8, kvHeads: 2, tokens: 256 },
  { heads: 2, kvHeads: 1, tokens: 128 },
];
const CAUSAL_CASES = [
  { heads: 4, kvHeads: 2, tokens: 96, firstPosition: 17 },
  { heads: 8, kvHeads: 2, tokens: 80, firstPosition: 0 },
];

type Gaussian = () => number;

function encodedRows(
  codec: KvFormat,
  gaussian: Gaussian,
  count: number,
): { rows: Float32Array[]; bytes: Uint8Array[] } {
  const rows = Array.from({ length: count }, () => take(gaussian, codec.headDim));
  return { rows, bytes: rows.map((row) => codec.encode(row, { encoder: "reference" })) };
}

function exactDot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}

/** elizaOS' dot fixtures: the query is used as it is drawn, in the coded basis. `_rot`: it is rotated. */
function turboFixtures(
  name: string,
  blockBytes: number,
  blocksPerRow: number,
  gaussian: Gaussian,
): [string, JsonFields][] {
  const codec = format(name, WIDTH);
  const q = take(gaussian, WIDTH);
  const { rows, bytes } = encodedRows(codec, gaussian, ROWS);
  const fields = (query: Float32Array): JsonFields => ({
    kernel: name,
    head_dim: WIDTH,
    n_kv: ROWS,
    block_bytes: blockBytes,
    blocks_per_kv: blocksPerRow,
    q: query,
    k_blocks: concatenate(bytes),
    expected_scores: Float64Array.from(bytes, (row) => codec.score(query, row)),
  });
  const rotated = {
    ...fields(codec.prepareQuery(q)),
    q_unrotated: q,
    exact_scores: Float64Array.from(rows, (row) => exactDot(q, row)),
  };
  return [
    [`${name}.json`, fields(q)],
    [`${name}_rot.json`, rotated],
  ];
}

function qjlFixture(gaussian: Gaussian): JsonFields {
  const codec = format("qjl1_256", WIDTH, { projection: "iid" });
  const sketch = codec.prepareQuery(take(gaussian, WIDTH));
  const { bytes } = encodedRows(codec, gaussian, ROWS);
  return {
    kernel: "qjl",
    head_dim: WIDTH,
    proj_dim: codec.rotatedDim,
    n_heads: 1,
    n_kv_heads: 1,
    n_tokens: ROWS,
    block_bytes: codec.blockBytes,
    q_sketch: sketch,
    k_blocks: concatenate(bytes),
    expected_scores: Float64Array.from(bytes, (row) => codec.score(sketch, row)),
  };
}

function polarFixture(residual: boolean, gaussian: Gaussian): JsonFields {
  const codec = format("q4_polar", WIDTH, { residual });
  const q = take(gaussian, WIDTH);
  const { bytes } = encodedRows(codec, gaussian, ROWS);
  return {
    kernel: "polar",
    head_dim: WIDTH,
    n_rows: ROWS,
    block_bytes: codec.blockBytes,
    use_qjl: residual ? 1 : 0,
    q,
    k_blocks: concatenate(bytes),
    expected_scores: Float64Array.from(bytes, (row) => codec.score(codec.prepareQuery(q), row)),
  };
}

function preparedPolarFixture(gaussian: Gaussian): JsonFields {
  const plain = format("q4_polar", WIDTH);
  const residual = format("q4_polar", WIDTH, { residual: true });
  const q = take(gaussian, WIDTH);
  const hq = plain.prepareQuery(q);
  const { rows, bytes } = encodedRows(plain, gaussian, ROWS);
  const residualBytes = rows.map((row) => residual.encode(row, { encoder: "reference" }));
  return {
    kernel: "polar_preht",
    head_dim: WIDTH,
    n_rows: ROWS,
    block_bytes: plain.blockBytes,
    hadamard_inv_scale: 1 / WIDTH,
    q,
    hq,
    k_blocks: concatenate(bytes),
    k_blocks_qjl: concatenate(residualBytes),
    expected_scores: Float64Array.from(bytes, (row) => plain.score(hq, row)),
    expected_scores_qjl: Float64Array.from(residualBytes, (row) => residual.score(hq, row)),
  };
}

function fusedFixture(
  values: "tbq" | "polar",
  causal: boolean,
  gaussian: Gaussian,
  keyFormat: KvFormat,
): JsonFields {
  const valueFormat =
    values === "tbq" ? format("tbq3", WIDTH) : format("q4_polar", WIDTH, { residual: true });
  const cases = (causal ? CAUSAL_CASES : FUSED_CASES).map((shape): JsonFields => {
    const { heads, kvHeads, tokens } = shape;
    const firstPosition = "firstPosition" in shape ? (shape.firstPosition as number) : tokens - 1;
    const sketches = Array.from({ length: heads }, () => keyFormat.prepareQuery(take(gaussian, WIDTH)));
    const queries = Float32Array.from(sketches.flatMap((sketch) => [...sketch]));
    const keys = concatenate(encodedRows(keyFormat, gaussian, kvHeads * tokens).bytes);
    const stored = concatenate(encodedRows(valueFormat, gaussian, kvHeads * tokens).bytes);
    const out = attention({
      keyFormat,
      valueFormat,
      heads,
      kvHeads,
      tokens,
      positions: 1,
      queries,
      prepared: true,
      keys,
      values: stored,
      scale: SOFTMAX_SCALE,
      causal,
      firstPosition,
    });
    return {
      n_heads: heads,
      n_kv_heads: kvHeads,
      n_kv: tokens,
      ...(causal ? { causal: 1, q_pos_base: firstPosition } : {}),
      q_sketch: queries,
      k_blocks: keys,
      v_blocks: stored,
      expected_out: out,
    };
  });
  return {
    kernel: `fused_attn_qjl_${values}`,
    head_dim: WIDTH,
    proj_dim: keyFormat.rotatedDim,
    k_block_bytes: keyFormat.blockBytes,
    v_block_bytes: valueFormat.blockBytes,
    v_blocks_per_token: WIDTH / valueFormat.blockWidth,
    ...(values === "polar" ? { use_qjl: 1 } : {}),
    sm_scale: SOFTMAX_SCALE,
    q_is_pre_projected: 1,
    cases,
  };
}

/**
 * elizaOS' fixture set: its field names, its PRNG drawn in its order through all files, the documented
 * encoders. Scores and outputs are from the float64 reference, so they differ from elizaOS' own in the last
 * digits printed; scales are rounded to nearest even where elizaOS rounds halves up.
 */
export function seedFixtures(): Map<string, Uint8Array> {
  const gaussian = lcgGaussians();
  const fusedKeys = composeFormat("qjl1_256", WIDTH, [qjl1x256(iidProjection(QJL_SEEDS.fused))], false);
  const files: [string, JsonFields][] = [
    ...turboFixtures("turbo3", 14, 4, gaussian),
    ...turboFixtures("turbo4", 18, 4, gaussian),
    ...turboFixtures("turbo3_tcq", 52, 1, gaussian),
    ["qjl.json", qjlFixture(gaussian)],
    ["polar.json", polarFixture(false, gaussian)],
    ["polar_qjl.json", polarFixture(true, gaussian)],
    ["polar_preht.json", preparedPolarFixture(gaussian)],
    ["fused_attn_qjl_tbq.json", fusedFixture("tbq", false, gaussian, fusedKeys)],
    ["fused_attn_qjl_polar.json", fusedFixture("polar", false, gaussian, fusedKeys)],
    ["fused_attn_qjl_tbq_causal.json", fusedFixture("tbq", true, gaussian, fusedKeys)],
    ["fused_attn_qjl_polar_causal.json", fusedFixture("polar", true, gaussian, fusedKeys)],
  ];
  return new Map(files.map(([name, fields]) => [name, new TextEncoder().encode(fixtureJson(fields))]));
}
