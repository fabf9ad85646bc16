import type { FormatName } from "@eliza-inference/codecs";
import type { KernelEntry, RowFormat } from "./device.ts";
import { fittingFormat } from "./format-of.ts";
import { floatFromHalf } from "./half-queries.ts";
import type { KernelCase, PlannedCase } from "./kernel-case.ts";
import { isPlain, type PlainName, plainFormat } from "./plain-formats.ts";
import { Random } from "./random.ts";
import { randomCache, randomHalves } from "./rows.ts";
import { trellisCodebooks } from "./trellis-buffers.ts";

/**
 * Of the largest decoded value: weights have 15 bits and trellis codes are exact, but turbo4's centroids are rounded to
 * 8 bits, 0.3 % of a value and of a score's spread. bf16 attention on the same rows differs by as much.
 */
const TOLERANCE = 1e-2;
const TOLERANCE_EXACT_CODES = 3e-4;
/** The kernel of many queries has queries, weights and decoded rows in fp16. */
const TOLERANCE_PREFILL = 2e-3;

const FLAG = { mask: 1, sinks: 2, causal: 4, window: 8, merge: 16 } as const;
/** Threads in a group of Vulkan and Metal; CUDA's modules say their own. */
const THREADS = 128;
const HIDDEN = Number.NEGATIVE_INFINITY;

/** What one launch attends to. */
interface AttentionShape {
  readonly sequences: number;
  readonly positions: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly tokens: number;
  /** Rows of the exact window. */
  readonly exact?: number;
  /** "head": a head's rows lie together. "token": all heads of a position do, as in llama.cpp's cache. */
  readonly layout: "head" | "token";
  /** "first": hides everything from the first position of each sequence too. */
  readonly mask?: boolean | "first";
  readonly sinks?: boolean;
  /** Position of the first query; later tokens are hidden from it. */
  readonly causalFrom?: number;
  readonly window?: number;
  readonly softCap?: number;
  readonly maxBias?: number;
  readonly blocks: number;
  /** Whether the kernel of many queries runs, a block for each of its passes. */
  readonly prefill?: boolean;
  readonly long?: boolean;
}

const ONE = { sequences: 1, positions: 1, layout: "head", blocks: 3 } as const;
const SHAPES: readonly AttentionShape[] = [
  { ...ONE, heads: 4, kvHeads: 1, tokens: 70 },
  { ...ONE, heads: 8, kvHeads: 2, tokens: 97, layout: "token", mask: true, sinks: true, exact: 5, blocks: 4 },
  { ...ONE, heads: 6, kvHeads: 1, tokens: 130, mask: true, softCap: 20, blocks: 2 },
  {
    ...ONE,
    positions: 3,
    heads: 6,
    kvHeads: 3,
    tokens: 61,
    layout: "token",
    causalFrom: 55,
    window: 40,
    maxBias: 8,
  },
  { ...ONE, sequences: 2, heads: 2, kvHeads: 2, tokens: 1, blocks: 8 },
];
const LONG: readonly AttentionShape[] = [
  { ...ONE, heads: 4, kvHeads: 1, tokens: 400, blocks: 7, long: true },
  { ...ONE, heads: 16, kvHeads: 1, tokens: 100, mask: true, exact: 40, long: true },
  { ...ONE, positions: 5, heads: 2, kvHeads: 2, tokens: 150, layout: "token", causalFrom: 140, long: true },
  { ...ONE, positions: 2, heads: 3, kvHeads: 3, tokens: 50, mask: "first", long: true },
  { ...ONE, heads: 2, kvHeads: 1, tokens: 65_603, blocks: 7, long: true },
];
/** A block of queries, as a prompt has. */
const PREFILL: AttentionShape = {
  ...{ sequences: 1, positions: 512, heads: 2, kvHeads: 1, tokens: 580, causalFrom: 68 },
  ...{ layout: "token", blocks: 5, long: true },
};

/** Of the kernel of many queries: a last block that is not full, masks that hide tiles, rows that end in a tile. */
const BLOCKS_OF_QUERIES: readonly AttentionShape[] = [
  {
    ...{ sequences: 1, positions: 18, heads: 8, kvHeads: 1, tokens: 133, exact: 5, layout: "token" },
    ...{ mask: true, sinks: true, softCap: 20, blocks: 0, prefill: true },
  },
  {
    ...{ sequences: 2, positions: 33, heads: 4, kvHeads: 2, tokens: 75, layout: "token" },
    ...{ causalFrom: 42, window: 30, maxBias: 8, blocks: 0, prefill: true },
  },
  {
    ...{ sequences: 1, positions: 150, heads: 2, kvHeads: 2, tokens: 300, layout: "head" },
    ...{ blocks: 0, prefill: true, long: true },
  },
];

/** K / V and head size; the first pair has all shapes. */
const PAIRS = [
  ["turbo4", "turbo4", 128],
  ["turbo4", "turbo3_tcq", 128],
  ["turbo4_tcq", "turbo3_tcq", 64],
  ["turbo4_mix", "turbo4_tcq", 128],
  ["turbo3_mix", "turbo2_tcq", 256],
  ["turbo4", "turbo4", 96],
] as const;

/** Pairs of the languages that specialise when a pipeline is made, so that more of them cost no compilation. */
const MORE_PAIRS = [
  ["q8_0", "turbo4_tcq", 128],
  ["f16", "turbo3_tcq", 512],
  ["turbo3_tcq", "turbo3_tcq", 256],
  ["q4_0", "q8_0", 96],
  ["turbo2_mix", "f16", 64],
  ["q4_polar", "tbq3", 128],
  ["turbo3", "q4_polar", 128],
] as const;

const MINUS_INFINITY = 0xfc00;

/** An fp16 mask that hides a third of the rows from each query. */
function randomMask(count: number, random: Random): Uint16Array {
  const mask = randomHalves(count, random);
  return mask.map((bits) => (random.below(3) === 0 ? MINUS_INFINITY : bits));
}

/** Bytes from one row, one KV head and one sequence to the next. */
interface Strides {
  readonly row: number;
  readonly head: number;
  readonly seq: number;
}

function stridesOf(shape: AttentionShape, rowBytes: number): Strides {
  const { kvHeads, tokens, layout } = shape;
  if (layout === "token") {
    return { row: rowBytes * kvHeads, head: rowBytes, seq: rowBytes * kvHeads * tokens };
  }
  const head = Math.ceil((rowBytes * tokens) / 16) * 16;
  return { row: rowBytes, head, seq: head * kvHeads };
}

/** Random rows of a format where the strides say, and their values. */
function cache(format: RowFormat, shape: AttentionShape, random: Random) {
  const { codec } = format;
  const stride = stridesOf(shape, codec.rowBytes);
  const bytes = new Uint8Array(stride.seq * shape.sequences).fill(0xa5);
  const encoded = randomCache(codec, shape.sequences * shape.kvHeads * shape.tokens, random);
  const values: Float32Array[] = [];
  for (let row = 0; row * codec.rowBytes < encoded.length; row++) {
    const token = row % shape.tokens;
    const head = Math.floor(row / shape.tokens) % shape.kvHeads;
    const seq = Math.floor(row / shape.tokens / shape.kvHeads);
    const from = encoded.subarray(row * codec.rowBytes, (row + 1) * codec.rowBytes);
    bytes.set(from, seq * stride.seq + head * stride.head + token * stride.row);
    values.push(codec.decode(from));
  }
  return { bytes, stride, values };
}

function slope(shape: AttentionShape, head: number): number {
  if (!shape.maxBias) return 1;
  const n = 2 ** Math.floor(Math.log2(shape.heads));
  return head < n
    ? 2 ** ((-shape.maxBias / n) * (head + 1))
    : 2 ** ((-shape.maxBias / 2 / n) * (2 * (head - n) + 1));
}

/** What one row of queries sees: keys and values with what is added to their logits. */
interface Seen {
  readonly key: ArrayLike<number>;
  readonly value: ArrayLike<number>;
  readonly added: number;
}

/** softmax(scale · q·k + added) · v in float64, a sink among the weights; zeros where nothing is seen. */
function attend(query: Float32Array, seen: readonly Seen[], softCap: number, sink: number | undefined) {
  const logits = seen.map(({ key, added }) => {
    let dot = 0;
    for (let i = 0; i < query.length; i++) dot += query[i]! * key[i]!;
    dot /= Math.sqrt(query.length);
    return (softCap ? softCap * Math.tanh(dot / softCap) : dot) + added;
  });
  const largest = Math.max(...logits, sink ?? HIDDEN);
  const out = new Float64Array(query.length);
  if (largest === HIDDEN) return out;
  let total = sink === undefined ? 0 : Math.exp(sink - largest);
  for (const [t, logit] of logits.entries()) {
    const weight = Math.exp(logit - largest);
    total += weight;
    for (let i = 0; i < out.length; i++) out[i]! += weight * seen[t]!.value[i]!;
  }
  return out.map((sum) => sum / total);
}

const sizes = new WeakMap<ArrayLike<number>, number>();

/** The largest value of a row, without its sign. */
function sizeOf(row: ArrayLike<number>): number {
  let size = sizes.get(row);
  if (size === undefined) {
    size = Array.from(row, Math.abs).reduce((most, x) => Math.max(most, x), 0);
    sizes.set(row, size);
  }
  return size;
}

function words64(values: readonly number[]): number[] {
  return values.flatMap((value) => [value >>> 0, Math.floor(value / 2 ** 32)]);
}

function attentionCase(shape: AttentionShape, k: RowFormat, v: RowFormat): KernelCase {
  const { sequences, positions, heads, kvHeads, tokens, exact = 0 } = shape;
  const dim = k.codec.headDim;
  const random = new Random(dim * 31 + tokens * 7 + heads);
  const keys = cache(k, shape, random);
  const values = cache(v, shape, random);
  const queries = random.floats(sequences * heads * positions * dim);
  const mask = randomMask(sequences * positions * tokens, random);
  if (shape.mask === "first") {
    for (let seq = 0; seq < sequences; seq++) {
      const row = seq * positions * tokens;
      mask.fill(MINUS_INFINITY, row, row + tokens);
    }
  }
  const exactMask = randomMask(sequences * positions * exact, random);
  const exactKeys = randomHalves(sequences * kvHeads * exact * dim, random);
  const exactValues = randomHalves(sequences * kvHeads * exact * dim, random);
  const sinks = random.floats(heads);
  const group = heads / kvHeads;
  const expected = new Float64Array(sequences * positions * heads * dim);
  const magnitude = new Float64Array(expected.length);
  const exactRow = (halves: Uint16Array, row: number): Float64Array =>
    Float64Array.from(halves.subarray(row * dim, (row + 1) * dim), floatFromHalf);

  for (let seq = 0; seq < sequences; seq++) {
    for (let position = 0; position < positions; position++) {
      for (let head = 0; head < heads; head++) {
        const kvHead = Math.floor(head / group);
        const from = ((seq * heads + head) * positions + position) * dim;
        const seen: Seen[] = [];
        const see = (key: ArrayLike<number>, value: ArrayLike<number>, bits: number): void => {
          const added = floatFromHalf(bits) * slope(shape, head);
          if (added !== HIDDEN) seen.push({ key, value, added });
        };
        const query = seq * positions + position;
        for (let token = 0; token < tokens; token++) {
          const at = (shape.causalFrom ?? tokens) + position;
          if (shape.causalFrom !== undefined && token > at) continue;
          if (shape.window && at - token >= shape.window) continue;
          const row = (seq * kvHeads + kvHead) * tokens + token;
          see(keys.values[row]!, values.values[row]!, shape.mask ? mask[query * tokens + token]! : 0);
        }
        for (let row = 0; row < exact; row++) {
          const at = (seq * kvHeads + kvHead) * exact + row;
          see(exactRow(exactKeys, at), exactRow(exactValues, at), exactMask[query * exact + row]!);
        }
        const out = attend(
          queries.subarray(from, from + dim),
          seen,
          shape.softCap ?? 0,
          shape.sinks ? sinks[head] : undefined,
        );
        const to = (query * heads + head) * dim;
        expected.set(out, to);
        const largest = seen.reduce((most, { value }) => Math.max(most, sizeOf(value)), 0);
        magnitude.fill(largest, to, to + dim);
      }
    }
  }

  // Rows of queries a pass, as the kernels have them.
  const pass = shape.prefill ? (dim <= 128 ? 128 : 64) : positions * group <= 4 ? 4 : 8;
  const items = sequences * kvHeads * Math.ceil((positions * group) / pass);
  const maxParts = shape.blocks + 18;
  const packed = shape.layout === "head";
  const flags =
    (shape.mask ? FLAG.mask : 0) |
    (shape.sinks ? FLAG.sinks : 0) |
    (shape.causalFrom === undefined ? 0 : FLAG.causal) |
    (shape.window ? FLAG.window : 0);
  const floats = new Uint32Array(
    Float32Array.of(1 / Math.sqrt(dim), shape.softCap ?? 0, shape.maxBias ?? 0).buffer,
  );
  const exactStride = [2 * dim, 2 * dim * exact, 2 * dim * exact * kvHeads];
  const strides = ({ row, head, seq }: Strides): number[] => [row, head, seq];
  const paramsOf = (flagged: number): Uint32Array =>
    Uint32Array.of(
      ...[sequences, positions, heads, kvHeads, tokens, exact, flagged, shape.causalFrom ?? 0],
      ...[shape.window ?? 0, maxParts, ...floats, 2 ** Math.floor(Math.log2(heads))],
      ...words64([4 * dim, 4 * dim * positions, 4 * dim * positions * heads]),
      ...words64([...strides(keys.stride), ...strides(values.stride), ...exactStride, ...exactStride]),
      ...words64([2 * tokens, 2 * tokens * positions, 2 * exact, 2 * exact * positions]),
    );
  return {
    constants: { rows: packed ? 1 : 0, heads: pass, threads: THREADS, headDim: dim },
    groups: [shape.prefill ? items : shape.blocks, 1, 1],
    params: paramsOf(flags),
    second: paramsOf(flags | FLAG.merge),
    inputs: [
      ...[queries, keys.bytes, values.bytes, mask, sinks, exactKeys, exactValues, exactMask],
      ...[trellisCodebooks(), undefined],
      new Uint8Array(
        shape.prefill ? 4 : Math.ceil((items * 4) / 128) * 128 + items * maxParts * pass * (dim + 2) * 4,
      ),
    ],
    expected,
    magnitude,
    tolerance: {
      relative: [k, v].some(({ codec }) => codec.name === "turbo4")
        ? TOLERANCE
        : shape.prefill
          ? TOLERANCE_PREFILL
          : TOLERANCE_EXACT_CODES,
    },
  };
}

function nameOf(shape: AttentionShape, k: RowFormat, v: RowFormat): string {
  const extras = Object.entries({
    exact: shape.exact,
    causal: shape.causalFrom,
    window: shape.window,
    "soft cap": shape.softCap,
    bias: shape.maxBias,
  })
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key} ${value}`);
  return (
    `${k.codec.name}/${v.codec.name} d${k.codec.headDim} n_kv ${shape.tokens} seq ${shape.sequences} ` +
    `queries ${shape.positions} gqa ${shape.heads}/${shape.kvHeads} ${shape.layout} ${shape.prefill ? "prefill" : `blocks ${shape.blocks}`}` +
    `${shape.mask ? " mask" : ""}${shape.mask === "first" ? " unseen" : ""}${shape.sinks ? " sinks" : ""}${extras.join("")}`
  );
}

function formatNamed(name: FormatName | PlainName, headDim: number): RowFormat {
  return isPlain(name) ? plainFormat(name, headDim) : fittingFormat(name, headDim, {})!;
}

/** Every pair at two shapes, the first one at all of them; the second shape of most pairs only in a long run. */
export function attentionCases(kernel: KernelEntry): PlannedCase[] {
  const more = kernel.id === "attention_pairs";
  const prefill = kernel.id === "attention_prefill";
  return (more ? MORE_PAIRS : PAIRS).flatMap(([keyName, valueName, headDim], pair) => {
    const k = formatNamed(keyName, headDim);
    const v = formatNamed(valueName, headDim);
    const two = prefill
      ? [BLOCKS_OF_QUERIES[0]!]
      : [
          { ...SHAPES[1]!, long: more && pair > 1 },
          { ...SHAPES[3]!, long: true },
        ];
    const all = prefill ? BLOCKS_OF_QUERIES : more ? [...two, PREFILL] : [...SHAPES, ...LONG];
    return (pair === 0 ? all : two).map(
      (shape): PlannedCase => ({
        kernel,
        formats: [k, v],
        name: nameOf(shape, k, v),
        origin: "generated",
        long: shape.long ?? false,
        files: [],
        make: () => attentionCase(shape, k, v),
      }),
    );
  });
}
