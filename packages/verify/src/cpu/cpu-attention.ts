import koffi from "koffi";
import type { CpuFormat, Native } from "./cpu-runs.ts";

const rows = koffi.struct({
  ...{ data: "uint64_t", type: "int32_t" },
  ...{ row: "size_t", head: "size_t", sequence: "size_t" },
});
const mask = koffi.struct({
  ...{ data: "uint64_t", row: "size_t", head: "size_t", sequence: "size_t" },
  ...{ heads: "int64_t", sequences: "int64_t" },
});
const source = koffi.struct({ k: rows, v: rows, mask, n: "int64_t" });
/** As struct eliza_attention of kernels/cpu/include/eliza_attention.h; addresses are numbers. */
const attention = koffi.struct({
  ...{ head_dim_k: "int64_t", head_dim_v: "int64_t", n_q: "int64_t" },
  ...{ n_head: "int64_t", n_head_kv: "int64_t", n_seq: "int64_t" },
  ...{ q: rows, coded: source, exact: source, sinks: "uint64_t" },
  ...{ scale: "float", max_bias: "float", soft_cap: "float", out: rows },
});
const TYPE_F32 = 0;
const TYPE_F16 = 1;
const FLAG = { mask: 1, sinks: 2, causal: 4, window: 8 } as const;
const HIDDEN = 0xfc00;

/** The library's attention. */
export interface CpuAttention {
  readonly workSize: (attention: unknown, threads: number) => number;
  readonly compute: Native;
}

export function attentionOf(library: ReturnType<typeof koffi.load>): CpuAttention {
  return {
    workSize: library.func("eliza_attention_work_size", "size_t", [koffi.pointer(attention), "int"]),
    compute: library.func("eliza_attention_compute_alone", "void", [
      koffi.pointer(attention),
      koffi.inout(koffi.pointer("uint8_t")),
    ]) as unknown as Native,
  };
}

function addressOf(bytes: ArrayBufferView | undefined): bigint {
  return bytes && bytes.byteLength > 0 ? BigInt(koffi.address(bytes)) : 0n;
}

/** What the parameters hide by position, written into an fp16 mask, which is all that the library knows. */
function maskOf(given: Uint8Array, params: Uint32Array): Uint16Array | undefined {
  const [sequences, queries, , , tokens, , flags, first, window] = params as unknown as number[];
  if ((flags! & (FLAG.mask | FLAG.causal | FLAG.window)) === 0) return undefined;
  const out = new Uint16Array(sequences! * queries! * tokens!);
  if (flags! & FLAG.mask) out.set(new Uint16Array(given.buffer, given.byteOffset, out.length));
  for (let i = 0; i < out.length; i++) {
    const token = i % tokens!;
    const at = first! + (Math.floor(i / tokens!) % queries!);
    if (flags! & FLAG.causal && token > at) out[i] = HIDDEN;
    if (flags! & FLAG.window && at - token >= window!) out[i] = HIDDEN;
  }
  return out;
}

/** One launch of the family `attention`, on one thread. */
export function attend(
  { compute, workSize }: CpuAttention,
  [k, v]: readonly CpuFormat[],
  buffers: readonly Uint8Array[],
  params: Uint32Array,
): void {
  const [q, keys, values, given, sinks, exactKeys, exactValues, exactMask, , out] = buffers;
  const [sequences, queries, heads, kvHeads, tokens, exact, flags] = params as unknown as number[];
  const floats = new Float32Array(params.buffer, params.byteOffset, params.length);
  const word = (at: number): number => params[at]! + params[at + 1]! * 2 ** 32;
  const at = (data: ArrayBufferView | undefined, type: number, first: number) => ({
    ...{ data: addressOf(data), type, row: word(first), head: word(first + 2), sequence: word(first + 4) },
  });
  const seen = (data: ArrayBufferView | undefined, n: number) => ({
    ...{ data: addressOf(data), row: 2 * n, head: 0, sequence: 2 * n * queries! },
    ...{ heads: 1, sequences: sequences! },
  });
  const shown = maskOf(given!, params);
  const dim = k!.headDim;
  const call = {
    ...{ head_dim_k: dim, head_dim_v: v!.headDim, n_q: queries!, n_head: heads!, n_head_kv: kvHeads! },
    ...{ n_seq: sequences!, q: at(q, TYPE_F32, 14) },
    coded: { k: at(keys, k!.type, 20), v: at(values, v!.type, 26), mask: seen(shown, tokens!), n: tokens! },
    exact: {
      ...{ k: at(exactKeys, TYPE_F16, 32), v: at(exactValues, TYPE_F16, 38) },
      ...{ mask: seen(exactMask, exact!), n: exact! },
    },
    sinks: flags! & FLAG.sinks ? addressOf(sinks) : 0n,
    ...{ scale: floats[10]!, soft_cap: floats[11]!, max_bias: floats[12]! },
    out: {
      ...{ data: addressOf(out), type: TYPE_F32, row: 4 * dim * heads!, head: 4 * dim },
      sequence: 4 * dim * heads! * queries!,
    },
  };
  compute(call, new Uint8Array(Number(workSize(call, 1))));
}
