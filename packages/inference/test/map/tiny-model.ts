import { join } from "node:path";
import { inverse, Matrix } from "ml-matrix";
import { type WritableGgufTensor, type WritableGgufValue, writeGguf } from "../../src/gguf/write-gguf.ts";

/** A model of random float32 weights, whose products round in no other way when its keys are seen otherwise. */
export interface TinyModel {
  path: string;
  layers: number;
  heads: number;
  kvHeads: number;
  vocabulary: number;
  /** by layer */
  headDims: number[];
  /** by layer; 0: the layer looks back at everything */
  windows: number[];
  /** by layer: the layer whose cache it looks into */
  sources: number[];
}

export type TinyArchitecture = "llama" | "gemma3" | "gemma4";

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

/**
 * "llama": neighbours are paired by RoPE, one cache. "gemma3": halves are, and five of six layers have a window. "gemma4":
 * layers without a window have heads twice as wide and RoPE factors, and the last two look into the caches of the two
 * before them.
 */
export async function writeTinyModel(
  folder: string,
  architecture: TinyArchitecture,
  options: { tokenizer?: boolean } = {},
): Promise<TinyModel> {
  const gemma = architecture !== "llama";
  const shares = architecture === "gemma4";
  const [layers, heads, kvHeads, width, inner, vocabulary] = [gemma ? 6 : 3, 6, 2, 48, 64, 128];
  const draw = normals({ llama: 3, gemma3: 7, gemma4: 9 }[architecture]);
  const looksBack = (layer: number): boolean => !gemma || (shares ? layer % 2 === 1 : layer % 6 === 5);
  const byLayer = <T>(value: (layer: number) => T): T[] =>
    Array.from({ length: layers }, (_, at) => value(at));
  const headDims = byLayer((layer) => (shares && looksBack(layer) ? 128 : 64));
  const windows = byLayer((layer) => (looksBack(layer) ? 0 : 24));
  const sources = byLayer((layer) => (shares && layer > 3 ? layer - 2 : layer));
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
    const headDim = headDims[layer]!;
    const keeps = sources[layer] === layer;
    tensors.push(
      norm(at("attn_norm"), width),
      tensor(at("attn_q"), [width, heads * headDim], 0.2),
      ...(keeps
        ? [
            tensor(at("attn_k"), [width, kvHeads * headDim], 0.2),
            tensor(at("attn_v"), [width, kvHeads * headDim], 0.2),
          ]
        : []),
      tensor(at("attn_output"), [heads * headDim, width], 0.1),
      norm(at("ffn_norm"), width),
      tensor(at("ffn_gate"), [width, inner], 0.2),
      tensor(at("ffn_up"), [width, inner], 0.2),
      tensor(at("ffn_down"), [inner, width], 0.2),
    );
    if (gemma) {
      tensors.push(
        // Gemma 4 has no 1/√d of its own
        tensor(at("attn_q_norm"), [headDim], 0.05, shares ? headDim ** -0.5 : 1),
        ...(keeps ? [norm(at("attn_k_norm"), headDim)] : []),
        norm(at("post_attention_norm"), width),
        norm(at("post_ffw_norm"), width),
      );
    }
  }
  if (shares) tensors.push(norm("rope_freqs.weight", 64));
  const unsigned = (value: number): WritableGgufValue => ({ unsigned: value });
  const path = join(folder, `${architecture}.gguf`);
  await writeGguf(
    path,
    {
      "general.architecture": architecture,
      ...(options.tokenizer ? letters(vocabulary) : { "tokenizer.ggml.model": "no_vocab" }),
      [`${architecture}.vocab_size`]: unsigned(vocabulary),
      [`${architecture}.context_length`]: unsigned(1024),
      [`${architecture}.embedding_length`]: unsigned(width),
      [`${architecture}.block_count`]: unsigned(layers),
      [`${architecture}.feed_forward_length`]: unsigned(inner),
      [`${architecture}.attention.head_count`]: unsigned(heads),
      [`${architecture}.attention.head_count_kv`]: unsigned(kvHeads),
      [`${architecture}.attention.key_length`]: unsigned(Math.max(...headDims)),
      [`${architecture}.attention.value_length`]: unsigned(Math.max(...headDims)),
      [`${architecture}.attention.layer_norm_rms_epsilon`]: { float: 1e-5 },
      [`${architecture}.rope.freq_base`]: { float: 10_000 },
      [`${architecture}.rope.dimension_count`]: unsigned(Math.max(...headDims)),
      ...(gemma ? { [`${architecture}.attention.sliding_window`]: unsigned(24) } : {}),
      ...(shares
        ? {
            "gemma4.attention.sliding_window_pattern": windows.map((window) => (window > 0 ? 1 : 0)),
            "gemma4.attention.shared_kv_layers": unsigned(2),
            "gemma4.attention.key_length_swa": unsigned(64),
            "gemma4.attention.value_length_swa": unsigned(64),
            "gemma4.rope.dimension_count_swa": unsigned(64),
            "gemma4.rope.freq_base_swa": { float: 1000 },
            "gemma4.embedding_length_per_layer_input": unsigned(0),
          }
        : {}),
    },
    tensors,
  );
  return { path, layers, heads, kvHeads, vocabulary, headDims, windows, sources };
}

/** A SentencePiece vocabulary of letters and pairs of letters. */
function letters(vocabulary: number): Record<string, WritableGgufValue> {
  const alphabet = [..."abcdefghijklmnopqrstuvwxyz"];
  const pairs = alphabet.flatMap((one) => ["a", "e", "n", "t"].map((other) => one + other));
  const tokens = ["<unk>", "<s>", "</s>", "\u2581", ...alphabet, ...pairs].slice(0, vocabulary);
  return {
    "tokenizer.ggml.model": "llama",
    "tokenizer.ggml.tokens": { strings: tokens },
    "tokenizer.ggml.scores": { floats: tokens.map((_, at) => -at) },
    "tokenizer.ggml.token_type": tokens.map((_, at) => (at === 0 ? 2 : at < 3 ? 3 : 1)),
  };
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
  const { layers, kvHeads, headDims } = model;
  let tensors: WritableGgufTensor[] = [];
  for (let layer = 0; layer < layers; layer++) {
    if (model.sources[layer] !== layer) continue;
    const d = headDims[layer]!;
    for (const side of ["key", "value"]) {
      const store = new Float32Array(d * d * kvHeads);
      const read = new Float32Array(d * d * kvHeads);
      for (let head = 0; head < kvHeads; head++) {
        const a = Matrix.zeros(d, d);
        for (let i = 0; i < d; i++)
          for (let j = 0; j < d; j++) a.set(i, j, (i === j ? 1 : 0) + (0.64 / Math.sqrt(d)) * draw());
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
      "layers.source": model.sources,
      "layers.kv_heads": each(kvHeads),
      "layers.head_dim_k": headDims,
      "layers.head_dim_v": headDims,
      "layers.window": model.windows,
      ...change.metadata,
    },
    tensors,
  );
}
