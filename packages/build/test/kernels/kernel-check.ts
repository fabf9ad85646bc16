import type { ProgramResult } from "./kernel-program.ts";

/** What check-kernels prints for one format on one instruction set. */
export interface CheckLine {
  readonly isa: string;
  readonly format: string;
  readonly rows: number;
  /** Rows whose bytes differ from the reference's. */
  readonly encodeDiffers: number;
  readonly referenceDiffers: number;
  /** Values that are NaN on one side only. */
  readonly notFiniteDiffers: number;
  /** Largest differences: of values over the largest of their row, of scores over Σ|q·k|. */
  readonly decode: number;
  readonly rotated: number;
  readonly prepared: number;
  readonly score: number;
}

/** The lines of a run. Throws if the program failed, with what it said. */
export function parseCheck({ status, stdout, stderr }: ProgramResult): CheckLine[] {
  if (status !== 0) throw new Error(`check-kernels ended with ${status}: ${stderr}`);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as CheckLine);
}

/** Whether a line holds: bytes equal, decode within 1e-6, and so on; the reason if not. */
export function faultOf(line: CheckLine): string | undefined {
  if (line.encodeDiffers > 0) return `${line.encodeDiffers} rows encode to other bytes`;
  if (line.referenceDiffers > 0) return `${line.referenceDiffers} rows encode to other bytes (reference)`;
  if (line.notFiniteDiffers > 0) return `${line.notFiniteDiffers} values are NaN on one side only`;
  if (line.decode > 1e-6 || line.rotated > 1e-6) return `decode differs by ${line.decode}, ${line.rotated}`;
  if (line.prepared > (line.format.startsWith("qjl") ? 2 ** -11 : 1e-6))
    return `query differs by ${line.prepared}`;
  if (line.score > 5e-7) return `score differs by ${line.score}`;
  return undefined;
}
