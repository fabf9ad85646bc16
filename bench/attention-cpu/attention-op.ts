import koffi from "koffi";

/** One attention of a tree: `heads` query heads over `headsKv` KV heads, `queries` tokens at the end of `kv` cached ones. */
export interface AttentionShape {
  readonly headDim: number;
  readonly heads: number;
  readonly headsKv: number;
  readonly kv: number;
  readonly queries: number;
}

/** GGML_OP_FLASH_ATTN_EXT of one tree (native/tools/attention-op.cpp), ready to run again and again. */
export interface AttentionOp {
  /** Of K and V together. */
  readonly bytes: number;
  /** Computes it once; nanoseconds. */
  run(): number;
  close(): void;
}

export interface AttentionTree {
  /** Undefined where a type does not fit the head size. */
  open(type: string, shape: AttentionShape, threads: number): AttentionOp | undefined;
  /** Bytes a second that so many threads read from memory together. */
  bandwidth(threads: number): number;
}

/** Loads the module `eliza-attention-op` of a tree; several trees may be loaded at once. */
export function loadAttentionTree(path: string): AttentionTree {
  const library = koffi.load(path);
  const open = library.func(
    "void *attention_op_open(const char *k, const char *v, int dim, int heads, int heads_kv, int kv, int queries, int threads)",
  );
  const run = library.func("double attention_op_run(void *opened)");
  const bytes = library.func("double attention_op_bytes(void *opened)");
  const close = library.func("void attention_op_close(void *opened)");
  const bandwidth = library.func("double attention_op_bandwidth(int threads)");
  return {
    open(type, { headDim, heads, headsKv, kv, queries }, threads) {
      // a name has a type for each tile, and the mixed ones for each head size
      for (const name of [type, `${type}_${headDim}`, `${type}_64`]) {
        const opened: unknown = open(name, name, headDim, heads, headsKv, kv, queries, threads);
        if (opened === null) continue;
        return {
          bytes: bytes(opened) as number,
          run: () => run(opened) as number,
          close: () => close(opened),
        };
      }
      return undefined;
    },
    bandwidth: (threads) => bandwidth(threads) as number,
  };
}
