import { attentionCases } from "./attention-cases.ts";
import { cacheRowCases } from "./cache-row-cases.ts";
import type { FamilyName, KernelEntry } from "./device.ts";
import { fusedCases } from "./fused-cases.ts";
import type { PlannedCase } from "./kernel-case.ts";
import { matrixCases } from "./matrix-cases.ts";
import { decodeCases, encodeCases, queryCases } from "./row-cases.ts";
import { scoreCases } from "./score-cases.ts";
import { setRowsCases } from "./set-rows-cases.ts";

/** How the cases of a family of kernels are made. */
export interface CaseFamily {
  /** The module of this folder with its cases, float64 reference and tolerances; evidence names its hash. */
  readonly module: string;
  cases(kernel: KernelEntry): PlannedCase[];
}

const matrix: CaseFamily = { module: "matrix-cases.ts", cases: matrixCases };

/** A kernel with cases of its own kind gets a name in FamilyName and a line here. */
export const CASE_FAMILIES: Readonly<Record<FamilyName, CaseFamily>> = {
  attention: { module: "attention-cases.ts", cases: attentionCases },
  fused_attention: { module: "fused-cases.ts", cases: fusedCases },
  cache_rows: { module: "cache-row-cases.ts", cases: cacheRowCases },
  set_rows: { module: "set-rows-cases.ts", cases: setRowsCases },
  score: { module: "score-cases.ts", cases: scoreCases },
  mul_mv: matrix,
  get_rows: matrix,
  encode: { module: "row-cases.ts", cases: encodeCases },
  decode: { module: "row-cases.ts", cases: decodeCases },
  prepare_query: { module: "row-cases.ts", cases: queryCases },
};
