import type { FormatName, FormatOptions } from "@eliza-inference/codecs";
import type { FamilyName, KernelConstants, KernelEntry, KernelFormat, SeedFixture } from "./device.ts";

const SCORE_PARAMS = ["n_heads", "n_kv_heads", "n_kv", "head_dim", "row_stride", "head_stride", "flags"];
const MATRIX_PARAMS = ["n_rows", "n_cols", "row_stride", "flags"];

/** As struct AttentionParams of kernels/cuda/attention_params.cuh; 64-bit strides as two words. */
const ATTENTION_PARAMS = [
  ...["n_seq", "n_query", "n_head", "n_head_kv", "n_kv", "n_exact", "flags", "first_position", "window"],
  ...["max_parts", "scale", "soft_cap", "max_bias", "n_head_log2"],
  ...["q", "k", "v", "k_exact", "v_exact"].flatMap((name) =>
    ["row", "head", "seq"].flatMap((part) => [`${name}_${part}`, `${name}_${part}_high`]),
  ),
  ...["mask_row", "mask_seq", "mask_exact_row", "mask_exact_seq"].flatMap((name) => [name, `${name}_high`]),
];

const SLICE_VALUES = 128;
const SLICE_WORDS = 25;
/** Rows of queries that elizaOS' fused kernels take at once. */
const FUSED_HEADS = 4;
const CODEBOOK_WORDS = 6 * 128;

/** Threadgroup memory: the format's own, slices of rows and queries, and the parts of a team. */
function sliceBytes(formatFloats: number, queryPerValue = 1) {
  return ({ rows, heads, threads }: KernelConstants): number => {
    const parts = threads > rows ? heads * threads : 0;
    return 4 * (formatFloats + rows * SLICE_WORDS + heads * SLICE_VALUES * queryPerValue + parts);
  };
}

/** The queries, later the sums, of a pass; parts of sums; weights; maxima, factors and totals; levels; codebooks. */
function attentionBytes({ heads, headDim = 0, threads }: KernelConstants): number {
  return 4 * (heads * headDim + threads * 16 + heads * 32 + heads * 3 + 32 + CODEBOOK_WORDS);
}

function rows(name: FormatName, ...options: readonly FormatOptions[]): KernelFormat {
  return { name, options: options.length > 0 ? options : [{}] };
}

function seed(file: string, format: FormatName, change: Partial<SeedFixture> = {}): SeedFixture {
  return { file, format, options: {}, query: "q", rows: "k_blocks", scores: "expected_scores", ...change };
}

type Facts = Pick<KernelEntry, "formats" | "capability"> & Partial<KernelEntry>;

function scoreKernel(id: string, facts: Facts & Pick<KernelEntry, "sharedBytes">): KernelEntry {
  return {
    ...{ id, stem: id, family: "score", queries: "coded", constants: "rows-heads", seeds: [] },
    ...{ buffers: ["rows", "queries", "scores"], params: SCORE_PARAMS },
    ...facts,
  };
}

function productKernel(id: string, facts: Facts & Pick<KernelEntry, "sharedBytes">): KernelEntry {
  return {
    ...{ id, stem: id, family: "mul_mv", queries: "coded", constants: "rows", seeds: [] },
    ...{ buffers: ["rows", "query", "result"], params: MATRIX_PARAMS },
    ...facts,
  };
}

function rowsKernel(id: string, facts: Facts & Pick<KernelEntry, "sharedBytes">): KernelEntry {
  return {
    ...{ id, stem: id, family: "get_rows", queries: "coded", constants: "none", seeds: [] },
    ...{ buffers: ["rows", "ids", "result"], params: MATRIX_PARAMS },
    ...facts,
  };
}

const RESIDUAL = { options: { residual: true } };
const POLAR = {
  formats: [rows("q4_polar", { residual: false }, { residual: true })],
  capability: "polarquant",
  sharedBytes: sliceBytes(16),
  seeds: [seed("polar", "q4_polar"), seed("polar_qjl", "q4_polar", RESIDUAL)],
};
const PREPARED_POLAR_SEEDS = [
  seed("polar_preht", "q4_polar", { query: "hq" }),
  seed("polar_preht", "q4_polar", {
    ...{ query: "hq", rows: "k_blocks_qjl", scores: "expected_scores_qjl" },
    ...RESIDUAL,
  }),
];
const QJL = {
  formats: [rows("qjl1_256", {}, { projection: "iid" })],
  capability: "qjl_full",
  sharedBytes: sliceBytes(0, 2),
  seeds: [seed("qjl", "qjl1_256", { query: "q_sketch", options: { projection: "iid" } })],
};
const TRELLIS_NAMES = [
  "turbo3_tcq",
  "turbo4_tcq",
  "turbo2_tcq",
  "turbo4_mix",
  "turbo3_mix",
  "turbo2_mix",
] as const;
const TRELLIS_FORMATS = [
  ...TRELLIS_NAMES.map((name) => rows(name)),
  rows(
    "trellis",
    { rate: 1, tile: 32 },
    { rate: 2, tile: 64 },
    { rate: 3, tile: 128 },
    { rate: 4, tile: 32 },
    { rate: 5, tile: 64 },
    { rate: 6, tile: 128 },
  ),
];

const CACHE_FORMATS = [
  ...["turbo4", "tbq3", "turbo3"].map((name) => rows(name as FormatName)),
  ...TRELLIS_FORMATS.filter(({ name }) => name !== "trellis"),
  rows("qjl1_256", {}, { projection: "iid" }),
  rows("q4_polar"),
];

/** Encoding, decoding and query preparation: of every format that has rows of its own name. */
function formatKernel(id: string, family: FamilyName, buffers: readonly string[], params: readonly string[]) {
  return {
    ...{ id, stem: id, family, buffers, params, formats: CACHE_FORMATS, capability: "kv_rows" },
    ...{ queries: "original" as const, seeds: [], constants: "none" as const, sharedBytes: () => 0 },
  };
}

const ATTENTION: KernelEntry = {
  ...{ id: "attention", stem: "attention", family: "attention", capability: "attention" },
  ...{ queries: "original", seeds: [], constants: "formats", sharedBytes: attentionBytes },
  formats: ["turbo4", ...TRELLIS_NAMES].map((name) => rows(name as FormatName)),
  cudaArchitectures: ["90", "100"],
  buffers: [
    ...["q", "k", "v", "mask", "sinks", "k_exact", "v_exact", "mask_exact", "codebooks"],
    ...["out", "workspace"],
  ],
  params: ATTENTION_PARAMS,
};

/** Rows by index, of any format, decoded in the original basis. */
const GET_ROWS: KernelEntry = {
  ...{ id: "kv_get_rows", stem: "kv_get_rows", family: "cache_rows", capability: "kv_rows" },
  ...{ formats: CACHE_FORMATS, queries: "original", seeds: [], constants: "none" },
  buffers: ["rows", "ids", "values", "codebooks", "projection"],
  params: ["format", "head_dim", "row_stride", "row_stride_high", "flags"],
  sharedBytes: () => 4 * (1024 + 16 + CODEBOOK_WORDS),
};

/** Rows encoded where their indices say, of any format, with the default encoders. */
const SET_ROWS: KernelEntry = {
  ...{ id: "kv_set_rows", stem: "kv_set_rows", family: "set_rows", capability: "kv_rows" },
  ...{ formats: [...CACHE_FORMATS, rows("q4_polar", RESIDUAL.options)], queries: "original", seeds: [] },
  ...{ constants: "none", buffers: ["values", "ids", "rows", "codebooks", "projection"] },
  params: [
    ...["format", "head_dim", "n_heads", "value_stride", "value_stride_high"],
    ...["byte_stride", "byte_stride_high", "flags"],
  ],
  sharedBytes: () => 4 * (4 * 128 + 2 * 128 + 256 + 1024 + 128 + 256 + 256),
};

/** elizaOS' fused kernels, by its names and parameters. */
function fusedKernel(id: string, values: KernelFormat): KernelEntry {
  return {
    ...{
      id,
      stem: id,
      family: "fused_attention",
      queries: "coded",
      constants: "none",
      capability: "fused_attn",
    },
    ...{ formats: [rows("qjl1_256"), values], seeds: [] },
    buffers: ["q_sketch", "k_blocks", "v_blocks", "out"],
    params: ["n_heads", "n_kv_heads", "n_kv", "n_q_pos", "causal", "q_pos_base", "use_qjl", "sm_scale"],
    sharedBytes: () => 4 * (FUSED_HEADS * 256 + 128 * 16 + FUSED_HEADS * 35 + 32),
  };
}

/** Every kernel that the harness knows. The same id, file stem and parameters in all languages. */
export const KERNELS: readonly KernelEntry[] = [
  scoreKernel("turbo4_score", {
    formats: [rows("turbo4")],
    capability: "turbo4",
    sharedBytes: sliceBytes(16),
    seeds: [seed("turbo4", "turbo4"), seed("turbo4_rot", "turbo4")],
  }),
  scoreKernel("tbq3_score", { formats: [rows("tbq3")], capability: "tbq3", sharedBytes: sliceBytes(8) }),
  scoreKernel("turbo3_score", {
    formats: [rows("turbo3")],
    capability: "turbo3",
    sharedBytes: sliceBytes(8),
    seeds: [seed("turbo3", "turbo3"), seed("turbo3_rot", "turbo3")],
  }),
  scoreKernel("trellis_score", {
    formats: TRELLIS_FORMATS,
    capability: "turbo3_tcq",
    buffers: ["rows", "queries", "scores", "codebooks", "units"],
    sharedBytes: sliceBytes(CODEBOOK_WORDS),
    seeds: [seed("turbo3_tcq", "turbo3_tcq"), seed("turbo3_tcq_rot", "turbo3_tcq")],
  }),
  scoreKernel("polar_score", { ...POLAR, queries: "original" }),
  scoreKernel("polar_preht_score", { ...POLAR, seeds: PREPARED_POLAR_SEEDS }),
  scoreKernel("qjl_score", QJL),
  productKernel("qjl_mul_mv", QJL),
  rowsKernel("qjl_get_rows", { ...QJL, seeds: [], buffers: ["rows", "ids", "result", "projection"] }),
  productKernel("polar_mul_mv", { ...POLAR, queries: "original" }),
  rowsKernel("polar_get_rows", { ...POLAR, seeds: [] }),
  ATTENTION,
  { ...ATTENTION, id: "attention_prefill", stem: "attention_prefill", oneBody: true },
  { ...ATTENTION, id: "attention_pairs", languages: ["vulkan", "metal"] },
  fusedKernel("fused_attn_qjl_tbq", rows("tbq3")),
  fusedKernel("fused_attn_qjl_polar", rows("q4_polar", { residual: false }, { residual: true })),
  GET_ROWS,
  SET_ROWS,
  formatKernel("kv_encode", "encode", ["values", "bytes"], ["n_rows", "head_dim", "reference", "together"]),
  formatKernel("kv_decode", "decode", ["bytes", "values"], ["n_rows", "head_dim", "coded"]),
  formatKernel("kv_prepare_query", "prepare_query", ["queries", "prepared"], ["n_rows", "head_dim"]),
];

export function kernelById(id: string): KernelEntry | undefined {
  return KERNELS.find((kernel) => kernel.id === id);
}
