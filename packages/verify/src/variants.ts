import type { KernelConstants, KernelEntry, RowFormat } from "./device.ts";

/** Rows a group that the CUDA sources instantiate; the other languages specialise for any. */
export const ROWS: readonly number[] = [1, 2, 4, 8, 32, 128];
/** Query heads a group that the CUDA sources instantiate. */
export const HEADS: readonly number[] = [1, 2, 4, 8];

/** The name of a kernel's entry point in Metal, and the stem of its names in CUDA. */
export function symbolOf(entry: KernelEntry): string {
  return `eliza_${entry.stem}`;
}

/** The CUDA entry point that was instantiated for these constants. */
export function cudaSymbol(entry: KernelEntry, constants: KernelConstants): string {
  const symbol = symbolOf(entry);
  if (entry.constants === "none" || entry.oneBody) return symbol;
  if (entry.constants === "rows") return `${symbol}_r${constants.rows}`;
  if (entry.constants === "formats") return `${symbol}_h${constants.heads}${constants.rows ? "_packed" : ""}`;
  return `${symbol}_r${constants.rows}_h${constants.heads}`;
}

/** Every CUDA entry point of a kernel. */
export function cudaSymbols(entry: KernelEntry): string[] {
  const base = { threads: 0 };
  if (entry.constants === "none" || entry.oneBody) return [cudaSymbol(entry, { ...base, rows: 1, heads: 1 })];
  if (entry.constants === "rows") return ROWS.map((rows) => cudaSymbol(entry, { ...base, rows, heads: 1 }));
  if (entry.constants === "formats") {
    return [4, 8].flatMap((heads) => [0, 1].map((rows) => cudaSymbol(entry, { ...base, rows, heads })));
  }
  return ROWS.flatMap((rows) => HEADS.map((heads) => cudaSymbol(entry, { ...base, rows, heads })));
}

/** Compiler arguments that make a module the one of these K and V formats, where it has such. */
export function definitionsOf(entry: KernelEntry, formats: readonly RowFormat[]): string[] {
  const [k, v] = formats;
  if (entry.constants !== "formats" || !k || !v) return [];
  return [
    `-DELIZA_K_TYPE=${k.codec.name}`,
    `-DELIZA_V_TYPE=${v.codec.name}`,
    `-DELIZA_HEAD_DIM=${k.codec.headDim}`,
  ];
}

const FORMAT_IDS: Readonly<Record<string, number>> = {
  ...{ f16: 1, q4_0: 2, q8_0: 8, turbo4: 96, tbq3: 97, turbo3: 98, turbo3_tcq: 100, turbo4_tcq: 102 },
  ...{ turbo2_tcq: 104, qjl1_256: 106, q4_polar: 108, turbo4_mix: 109, turbo3_mix: 113, turbo2_mix: 117 },
};
const WITH_RESIDUAL = 1000;

/** A format's number in kernels/portable/cache_formats.inc. */
export function formatId({ codec, options }: RowFormat): number {
  return FORMAT_IDS[codec.name]! + (options.residual ? WITH_RESIDUAL : 0);
}

/**
 * Specialisation constants (Vulkan) and function constants (Metal) by their ids: threads, rows, heads, and for kernels
 * that are made for their formats those of K and V and the head size.
 */
export function specialisation(
  entry: KernelEntry,
  constants: KernelConstants,
  formats: readonly RowFormat[],
): number[] {
  const { threads, rows, heads } = constants;
  const [k, v = k] = formats;
  if (entry.constants !== "formats" || !k || !v) return [threads, rows, heads];
  return [threads, rows, heads, formatId(k), formatId(v), k.codec.headDim];
}

/** Threads that share a row: one from 32 rows on, else what fills 32 threads. */
export function teamSize(rows: number): number {
  return Math.max(1, 32 / rows);
}
