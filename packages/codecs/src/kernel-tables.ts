import { formatHashes } from "./format-hashes.ts";
import { QJL_SCALE } from "./qjl.ts";
import { qjlProjection } from "./qjl-projection.ts";
import { POLAR_TABLE, TBQ3_TABLE, TURBO3_TABLE, TURBO4_TABLE } from "./scalar-tables.ts";
import type { ScalarTable } from "./scale-search.ts";
import { SIGNS_1, SIGNS_2, SIGNS_32, SIGNS_RESIDUAL } from "./sign-masks.ts";
import { prefixedStep } from "./trellis.ts";
import { codebookOf, TRELLIS_CODEBOOKS } from "./trellis-codebooks.ts";

/** A float32 as a literal that C, CUDA, Metal and GLSL read back as the same float32. */
function floatLiteral(value: number): string {
  if (value === 0) return "0.0f";
  const text = value.toPrecision(9);
  if (Math.fround(Number(text)) !== value) throw new Error(`${value} is not a float32`);
  return `${text}f`;
}

function list(literals: readonly string[]): string {
  const lines: string[] = [];
  for (let i = 0; i < literals.length; i += 8) lines.push(literals.slice(i, i + 8).join(", "));
  return `${lines.join(",\n")}\n`;
}

/** A float32 table as the text of an .inc file. */
export function floatList(values: Iterable<number>): string {
  return list(Array.from(values, floatLiteral));
}

/** A table of small integers as the text of an .inc file. */
export function integerList(values: Iterable<number>): string {
  return list(Array.from(values, (value) => String(value)));
}

function maskList(words: readonly number[]): string {
  return list(words.map((word) => `0x${word.toString(16).padStart(8, "0")}u`));
}

function scalarFiles(name: string, table: ScalarTable): Record<string, string> {
  return {
    [`${name}-centroids.inc`]: floatList(table.centroids),
    [`${name}-thresholds.inc`]: floatList(table.thresholds),
    [`${name}-factors.inc`]: floatList(table.candidates),
  };
}

/** Every file of kernels/tables by name: bare initialiser lists, to be #included between braces. */
export function kernelTables(): Record<string, string> {
  return {
    ...scalarFiles("turbo4", TURBO4_TABLE),
    ...scalarFiles("tbq3", TBQ3_TABLE),
    ...scalarFiles("turbo3", TURBO3_TABLE),
    ...scalarFiles("q4-polar", POLAR_TABLE),
    "signs-32.inc": maskList(SIGNS_32),
    "signs-1.inc": maskList(SIGNS_1),
    "signs-2.inc": maskList(SIGNS_2),
    "signs-residual.inc": maskList(SIGNS_RESIDUAL),
    ...Object.fromEntries(
      TRELLIS_CODEBOOKS.map(({ rate, values }) => [`trellis-${rate}-values.inc`, integerList(values)]),
    ),
    "trellis-steps.inc": floatList(TRELLIS_CODEBOOKS.map(({ step }) => step)),
    "trellis-sample-scales.inc": floatList(TRELLIS_CODEBOOKS.map(({ sampleScale }) => sampleScale)),
    "trellis-contexts.inc": integerList(TRELLIS_CODEBOOKS.map(({ context }) => context)),
    "trellis-prefixed-step.inc": floatList([prefixedStep(codebookOf(3))]),
    "qjl-iid.inc": floatList(qjlProjection("iid")),
    "qjl-orthogonal.inc": floatList(qjlProjection("orthogonal")),
    "qjl-scale.inc": floatList([QJL_SCALE]),
    "format-hashes.inc": formatHashes(),
  };
}
