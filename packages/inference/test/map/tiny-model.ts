import { join } from "node:path";
import { inverse, Matrix } from "ml-matrix";
import { type WritableGgufTensor, type WritableGgufValue, writeGguf } from "../../src/gguf/write-gguf.ts";

/** A model of random float32 weights, whose products round in no other way when its keys are seen otherwise. */
export interface TinyModel {
  path: string;
  layers: number;
  heads: number;
  kvHeads: number;
  headDim: number;
  vocabulary: number;
  /** by layer; 0: the layer looks back at everything */
  windows: number[];
}

/** Normal draws of a seed (splitmix64's finalizer over a counter, then Box–Muller). */
export function normals(seed: number): () => number {
  let state = seed >>> 0;
  const uniform = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return ((z ^ (z >>> 15)) >>> 0) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(uniform() + 1e-12)) * Math.cos(2 * Math.PI * uniform());
}

/** "llama": neighbours are paired by RoPE, one cache. "gemma3": halves are, and five of six layers have a window. */
export async function writeTinyModel(folder: string, architecture: "llama" | "gemma3"): Promise<TinyModel> {
  const gemma = architecture === "gemma3";
  const [layers, heads, kvHeads, headDim, width, inner, vocabulary] = [gemma ? 6 : 3, 6, 2, 64, 48, 64, 128];
  const draw = normals(gemma ? 7 : 3);
  const tensor = (name: string, shape: number[], deviation: number, centre = 0): WritableGgufTensor => ({
    name,
    shape,
    values: Float32Array.from(
      { length: shape.reduce((a, b) => a * b, 1) },
      () => centre + deviation * draw(),
    ),
  });
  const norm = (name: string, size: number) => tensor(name, [size], 0.05, 1);
  const tensors = [
    tensor("token_embd.weight", [width, vocabulary], 0.5),
    norm("output_norm.weight", width),
    tensor("output.weight", [width, vocabulary], 0.5),
  ];
  for (let layer = 0; layer < layers; layer++) {
    const at = (name: string) => `blk.${layer}.${name}.weight`;
    tensors.push(
      norm(at("attn_norm"), width),
      tensor(at("attn_q"), [width, heads * headDim], 0.2),
      tensor(at("attn_k"), [width, kvHeads * headDim], 0.2),
      tensor(at("attn_v"), [width, kvHeads * headDim], 0.2),
      tensor(at("attn_output"), [heads * headDim, width], 0.1),
      norm(at("ffn_norm"), width),
      tensor(at("ffn_gate"), [width, inner], 0.2),
      tensor(at("ffn_up"), [width, inner], 0.2),
      tensor(at("ffn_down"), [inner, width], 0.2),
    );
    if (gemma) {
      tensors.push(
        norm(at("attn_q_norm"), headDim),
        norm(at("attn_k_norm"), headDim),
        norm(at("post_attention_norm"), width),
        norm(at("post_ffw_norm"), width),
      );
    }
  }
  const unsigned = (value: number): WritableGgufValue => ({ unsigned: value });
  const path = join(folder, `${architecture}.gguf`);
  await writeGguf(
    path,
    {
      "general.architecture": architecture,
      "tokenizer.ggml.model": "no_vocab",
      [`${architecture}.vocab_size`]: unsigned(vocabulary),
      [`${architecture}.context_length`]: unsigned(1024),
      [`${architecture}.embedding_length`]: unsigned(width),
      [`${architecture}.block_count`]: unsigned(layers),
      [`${architecture}.feed_forward_length`]: unsigned(inner),
      [`${architecture}.attention.head_count`]: unsigned(heads),
      [`${architecture}.attention.head_count_kv`]: unsigned(kvHeads),
      [`${architecture}.attention.key_length`]: unsigned(headDim),
      [`${architecture}.attention.value_length`]: unsigned(headDim),
      [`${architecture}.attention.layer_norm_rms_epsilon`]: { float: 1e-5 },
      [`${architecture}.rope.freq_base`]: { float: 10_000 },
      [`${architecture}.rope.dimension_count`]: unsigned(headDim),
      ...(gemma ? { "gemma3.attention.sliding_window": unsigned(24) } : {}),
    },
    tensors,
  );
  const windows = Array.from({ length: layers }, (_, layer) => (gemma && layer % 6 !== 5 ? 24 : 0));
  return { path, layers, heads, kvHeads, headDim, vocabulary, windows };
}

/** A solved map of random matrices, well conditioned and far from orthogonal, with means as large as the values. */
export async function writeRandomMap(
  path: string,
  model: TinyModel,
  change: {
    metadata?: Record<string, WritableGgufValue>;
    tensors?: (tensors: WritableGgufTensor[]) => WritableGgufTensor[];
  } = {},
): Promise<void> {
  const draw = normals(11);
  const { layers, kvHeads, headDim: d } = model;
  let tensors: WritableGgufTensor[] = [];
  for (let layer = 0; layer < layers; layer++) {
    for (const side of ["key", "value"]) {
      const store = new Float32Array(d * d * kvHeads);
      const read = new Float32Array(d * d * kvHeads);
      for (let head = 0; head < kvHeads; head++) {
        const a = Matrix.zeros(d, d);
        for (let i = 0; i < d; i++)
          for (let j = 0; j < d; j++) a.set(i, j, (i === j ? 1 : 0) + 0.08 * draw());
        const back = side === "key" ? inverse(a).transpose() : inverse(a);
        store.set(a.to1DArray(), head * d * d);
        read.set(back.to1DArray(), head * d * d);
      }
      const name = `blk.${layer}.${side}`;
      tensors.push(
        { name: `${name}.store`, shape: [d, d, kvHeads], values: store },
        { name: `${name}.read`, shape: [d, d, kvHeads], values: read },
        {
          name: `${name}.mean`,
          shape: [d, kvHeads],
          values: Float32Array.from({ length: d * kvHeads }, draw),
        },
      );
    }
  }
  tensors = change.tensors?.(tensors) ?? tensors;
  const each = (value: number): number[] => Array.from({ length: layers }, () => value);
  await writeGguf(
    path,
    {
      "general.type": "kv-map",
      "map.version": 1,
      "map.sha256": "0".repeat(64),
      "map.statistics_sha256": "0".repeat(64),
      "map.context": 1024,
      "layers.source": Array.from({ length: layers }, (_, layer) => layer),
      "layers.kv_heads": each(kvHeads),
      "layers.head_dim_k": each(d),
      "layers.head_dim_v": each(d),
      "layers.window": model.windows,
      ...change.metadata,
    },
    tensors,
  );
}
