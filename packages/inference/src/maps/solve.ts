import { createHash } from "node:crypto";
import { type WritableGgufTensor, writeGguf } from "../gguf/write-gguf.ts";
import { balance } from "./balance.ts";
import { Spread } from "./spread.ts";
import type { HeadStatistics, Statistics } from "./statistics.ts";

/** Counts up when the same statistics give other maps. */
export const solverVersion = 1;

export interface SolveOptions {
  /** Tokens of the context that the map is for. */
  contextSize: number;
  /** Leaves keys at the positions that they were calibrated at. For measuring what spreading is worth. */
  unspread?: boolean;
  /** Maps values too. Off by default: it gains little where it gains, and costs where the text was not like the use. */
  values?: boolean;
}

/** Matrices and mean of one side of a cache, kv head after kv head, as the engine multiplies with them. */
interface SolvedSide {
  store: Float32Array;
  read: Float32Array;
  mean: Float32Array;
}

/**
 * Solves the map of every layer for a context and writes it as the engine reads it.
 *
 * @throws InferenceError as Statistics.heads
 */
export async function solveMap(statistics: Statistics, path: string, options: SolveOptions): Promise<void> {
  const shifts = options.unspread ? 0 : Math.max(0, options.contextSize - statistics.window);
  const tensors: WritableGgufTensor[] = [];
  for (const layer of statistics.cacheLayers()) {
    const { heads, rope } = await statistics.heads(layer);
    const [k, v] = [statistics.layers.headDimK[layer] ?? 0, statistics.layers.headDimV[layer] ?? 0];
    const spread = new Spread(k, rope, shifts);
    const keys = emptySide(k, heads.length);
    const values = emptySide(v, heads.length);
    for (const [head, each] of heads.entries()) {
      solveKeys(each, spread, k, statistics.softcap, keys, head);
      if (options.values) solveValues(each, v, values, head);
    }
    for (const [side, solved, d] of [["key", keys, k] as const, ["value", values, v] as const]) {
      if (side === "value" && !options.values) continue;
      const name = `blk.${layer}.${side}`;
      tensors.push(
        { name: `${name}.store`, shape: [d, d, heads.length], values: solved.store },
        { name: `${name}.read`, shape: [d, d, heads.length], values: solved.read },
        { name: `${name}.mean`, shape: [d, heads.length], values: solved.mean },
      );
    }
  }
  const { source, kvHeads, headDimK, headDimV, window } = statistics.layers;
  await writeGguf(
    path,
    {
      "general.type": "kv-map",
      "general.name": statistics.modelName,
      "map.version": 1,
      "map.sha256": hashOf(tensors),
      "map.statistics_sha256": statistics.sha256,
      "map.model_sha256": statistics.modelSha256,
      "map.context": options.contextSize,
      "map.exact_tokens": statistics.exactTokens,
      "map.exact_sinks": statistics.exactSinks,
      "layers.source": source,
      "layers.kv_heads": kvHeads,
      "layers.head_dim_k": headDimK,
      "layers.head_dim_v": headDimV,
      "layers.window": window,
    },
    tensors,
  );
}

function solveKeys(
  head: HeadStatistics,
  spread: Spread,
  d: number,
  softcap: number,
  into: SolvedSide,
  index: number,
): void {
  // A capped score is no difference of scores any more: what is added to every key would be seen.
  const mean = softcap > 0 ? new Float64Array(d) : spread.vector(scaled(head.keySum, head.keyWeight));
  const covariance = centred(spread.matrix(scaled(head.keySecond, head.keyWeight)), mean);
  const { store, inverse } = balance(covariance, spread.matrix(head.querySecond), d);
  into.store.set(store, index * d * d);
  into.read.set(transposed(inverse, d), index * d * d);
  into.mean.set(mean, index * d);
}

function solveValues(head: HeadStatistics, d: number, into: SolvedSide, index: number): void {
  const mean = scaled(head.valueSum, head.valueWeight);
  const covariance = centred(scaled(head.valueSecond, head.valueWeight), mean);
  const { store, inverse } = balance(covariance, head.outputSecond, d);
  into.store.set(store, index * d * d);
  into.read.set(inverse, index * d * d);
  into.mean.set(mean, index * d);
}

function emptySide(d: number, heads: number): SolvedSide {
  return {
    store: new Float32Array(d * d * heads),
    read: new Float32Array(d * d * heads),
    mean: new Float32Array(d * heads),
  };
}

function scaled(values: Float64Array, weight: number): Float64Array {
  return values.map((value) => (weight > 0 ? value / weight : 0));
}

function centred(second: Float64Array, mean: Float64Array): Float64Array {
  const d = mean.length;
  return second.map((value, at) => value - mean[Math.floor(at / d)]! * mean[at % d]!);
}

function transposed(matrix: Float64Array, d: number): Float64Array {
  return Float64Array.from(matrix, (_, at) => matrix[(at % d) * d + Math.floor(at / d)]!);
}

function hashOf(tensors: readonly WritableGgufTensor[]): string {
  const hash = createHash("sha256");
  for (const { name, values } of tensors) {
    hash.update(name);
    hash.update(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  }
  return hash.digest("hex");
}
