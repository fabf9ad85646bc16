import { readFileSync } from "node:fs";
import { join } from "node:path";
import { attention } from "@eliza-inference/codecs";
import type { KernelEntry, RowFormat } from "./device.ts";
import { fittingFormat } from "./format-of.ts";
import { type KernelCase, type PlannedCase, SEED_TOLERANCE } from "./kernel-case.ts";
import { Random } from "./random.ts";
import { ROOT } from "./repository.ts";
import { randomRows } from "./rows.ts";

/** Of the largest value that is summed: float32 dots of 256 and sums over the positions. */
const TOLERANCE = 1e-5;
const HEAD_DIM = 128;
const SKETCH = 256;
const THREADS = 128;
/** Rows of queries that a group takes. */
const ROWS = 4;

/** What one launch attends to, in the words of elizaOS' fixtures. */
interface FusedShape {
  readonly n_heads: number;
  readonly n_kv_heads: number;
  readonly n_kv: number;
  readonly n_q_pos?: number;
  readonly causal?: number;
  readonly q_pos_base?: number;
}

interface SeedFile {
  readonly sm_scale: number;
  readonly use_qjl?: number;
  readonly cases: readonly (FusedShape & {
    readonly q_sketch: readonly number[];
    readonly k_blocks: readonly number[];
    readonly v_blocks: readonly number[];
    readonly expected_out: readonly number[];
  })[];
}

/** Beside the fixtures' own: one position, blocks of queries, three KV heads, groups larger than a pass. */
const SHAPES: readonly FusedShape[] = [
  { n_heads: 1, n_kv_heads: 1, n_kv: 1 },
  { n_heads: 6, n_kv_heads: 3, n_kv: 97, n_q_pos: 3, causal: 1, q_pos_base: 40 },
  { n_heads: 7, n_kv_heads: 1, n_kv: 45 },
];

function fusedCase(
  shape: FusedShape,
  values: { queries: Float32Array; keys: Uint8Array; stored: Uint8Array; scale: number; residual: boolean },
  judged: Pick<KernelCase, "expected" | "magnitude" | "tolerance">,
): KernelCase {
  const { n_heads, n_kv_heads, n_kv, n_q_pos = 1, causal = 0, q_pos_base = 0 } = shape;
  const scale = new Uint32Array(Float32Array.of(values.scale).buffer)[0]!;
  const flags = [causal, q_pos_base, values.residual ? 1 : 0];
  return {
    constants: { rows: 1, heads: ROWS, threads: THREADS },
    groups: [n_kv_heads * Math.ceil((n_q_pos * n_heads) / n_kv_heads / ROWS), 1, 1],
    params: Uint32Array.of(n_heads, n_kv_heads, n_kv, n_q_pos, ...flags, scale),
    inputs: [values.queries, values.keys, values.stored, undefined],
    ...judged,
  };
}

function seedCases(kernel: KernelEntry, formats: readonly RowFormat[], causal: boolean): PlannedCase[] {
  const path = `fixtures/${kernel.id}${causal ? "_causal" : ""}.json`;
  const read = (): SeedFile => JSON.parse(readFileSync(join(ROOT, path), "utf8")) as SeedFile;
  return read().cases.map((shape, index) => ({
    ...{ kernel, formats, origin: "seed", long: false, files: [path] },
    name: `seed ${causal ? "causal " : ""}n_kv ${shape.n_kv} gqa ${shape.n_heads}/${shape.n_kv_heads}`,
    make: () => {
      const { sm_scale: scale, use_qjl, cases } = read();
      const found = cases[index]!;
      const values = {
        ...{ queries: Float32Array.from(found.q_sketch), scale, residual: use_qjl === 1 },
        ...{ keys: Uint8Array.from(found.k_blocks), stored: Uint8Array.from(found.v_blocks) },
      };
      const expected = Float64Array.from(found.expected_out);
      if (expected.length !== found.n_heads * HEAD_DIM)
        throw new Error(`${path}: ${expected.length} outputs`);
      return fusedCase(found, values, {
        ...{ expected, magnitude: new Float64Array(expected.length).fill(1) },
        tolerance: { absolute: SEED_TOLERANCE },
      });
    },
  }));
}

function generatedCase(shape: FusedShape, [k, v]: readonly RowFormat[]): KernelCase {
  const { n_heads, n_kv_heads, n_kv, n_q_pos = 1, causal = 0, q_pos_base = 0 } = shape;
  const random = new Random(n_kv * 5 + n_heads);
  const keys = randomRows(k!.codec, n_kv_heads * n_kv, random, "normal");
  const stored = randomRows(v!.codec, n_kv_heads * n_kv, random, "normal");
  const queries = random.floats(n_q_pos * n_heads * SKETCH).map((x) => 10 * x);
  const scale = Math.fround(1 / Math.sqrt(HEAD_DIM));
  const expected = attention({
    ...{ keyFormat: k!.codec, valueFormat: v!.codec, heads: n_heads, kvHeads: n_kv_heads, tokens: n_kv },
    ...{ positions: n_q_pos, queries, prepared: true, keys, values: stored, scale },
    ...{ causal: causal === 1, firstPosition: q_pos_base },
  });
  let largest = 0;
  for (let at = 0; at < stored.length; at += v!.codec.rowBytes) {
    for (const x of v!.codec.decode(stored.subarray(at, at + v!.codec.rowBytes))) {
      largest = Math.max(largest, Math.abs(x));
    }
  }
  const residual = v!.options.residual === true;
  return fusedCase(
    shape,
    { queries, keys, stored, scale, residual },
    {
      ...{ expected, magnitude: new Float64Array(expected.length).fill(largest) },
      tolerance: { relative: TOLERANCE },
    },
  );
}

/** elizaOS' fixtures, 1,920 outputs and causal 1,536, at elizaOS' tolerance; other shapes against float64. */
export function fusedCases(kernel: KernelEntry): PlannedCase[] {
  const [keys, values] = kernel.formats.map(({ name, options }) =>
    options.map((choice) => fittingFormat(name, HEAD_DIM, choice)!),
  );
  const pairs = values!.map((value) => [keys![0]!, value]);
  const ofFixtures = pairs.at(-1)!; // q4_polar: with the residual
  return [
    ...seedCases(kernel, ofFixtures, false),
    ...seedCases(kernel, ofFixtures, true),
    ...pairs.flatMap((formats) =>
      SHAPES.map((shape): PlannedCase => {
        const { n_heads, n_kv_heads, n_kv, n_q_pos = 1, q_pos_base } = shape;
        const residual = formats[1]!.options.residual ? " residual" : "";
        const causal = q_pos_base === undefined ? "" : ` causal ${q_pos_base}`;
        return {
          ...{ kernel, formats, origin: "generated", long: false, files: [] },
          name: `n_kv ${n_kv} queries ${n_q_pos} gqa ${n_heads}/${n_kv_heads}${causal}${residual}`,
          make: () => generatedCase(shape, formats),
        };
      }),
    ),
  ];
}
