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
  if (entry.constants === "none") return symbol;
  if (entry.constants === "rows") return `${symbol}_r${constants.rows}`;
  if (entry.constants === "formats") return `${symbol}_h${constants.heads}${constants.rows ? "_packed" : ""}`;
  return `${symbol}_r${constants.rows}_h${constants.heads}`;
}

/** Every CUDA entry point of a kernel. */
export function cudaSymbols(entry: KernelEntry): string[] {
  const base = { threads: 0 };
  if (entry.constants === "none") return [cudaSymbol(entry, { ...base, rows: 1, heads: 1 })];
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

/** Threads that share a row: one from 32 rows on, else what fills 32 threads. */
export function teamSize(rows: number): number {
  return Math.max(1, 32 / rows);
}
