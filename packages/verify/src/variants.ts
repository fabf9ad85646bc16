import type { KernelConstants, KernelEntry } from "./device.ts";

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
  return `${symbol}_r${constants.rows}_h${constants.heads}`;
}

/** Every CUDA entry point of a kernel. */
export function cudaSymbols(entry: KernelEntry): string[] {
  const base = { threads: 0 };
  if (entry.constants === "none") return [cudaSymbol(entry, { ...base, rows: 1, heads: 1 })];
  if (entry.constants === "rows") return ROWS.map((rows) => cudaSymbol(entry, { ...base, rows, heads: 1 }));
  return ROWS.flatMap((rows) => HEADS.map((heads) => cudaSymbol(entry, { ...base, rows, heads })));
}

/** Threads that share a row: one from 32 rows on, else what fills 32 threads. */
export function teamSize(rows: number): number {
  return Math.max(1, 32 / rows);
}
