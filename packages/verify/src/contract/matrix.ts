import type { KernelEntry } from "../device.ts";
import type { KernelEvidence } from "../evidence.ts";
import { KERNELS } from "../kernels.ts";
import { formatDifference } from "../report-table.ts";
import { canBeRecomputed } from "./judge-evidence.ts";
import type { JudgedFile } from "./make-contract.ts";
import type { PlanFacts } from "./plan-facts.ts";

export const MATRIX_BEGIN = "<!-- kernel matrix: npm run contract -- --table -->";
export const MATRIX_END = "<!-- end of kernel matrix -->";

const BACKEND_NAMES = { cpu: "CPU", vulkan: "Vulkan", cuda: "CUDA", metal: "Metal" } as const;

function heading({ evidence }: JudgedFile): string {
  const name = BACKEND_NAMES[evidence.backend];
  if (evidence.kind === "emulated") return `${name}, emulated`;
  const device = evidence.device.replace(/\((R|TM)\)/gi, "").replace(/\s*\(.*\)/, "");
  if (evidence.kind === "software") return `${name}, ${device} (software)`;
  if (canBeRecomputed(evidence)) return `${name}, ${device}`;
  const dates = Object.values(evidence.kernels).map(({ date }) => date);
  return `${name}, ${device}, as committed by a person on ${dates.sort().at(-1)}`;
}

/** The largest difference of the golden and generated cases, as a share, and how many cases were skipped. */
function cell(kernel: KernelEntry, { evidence, stale }: JudgedFile, factsOf: PlanFacts): string {
  const { id } = kernel;
  const entry = evidence.kernels[id] as KernelEvidence | undefined;
  if (!entry) return "–";
  if (stale.has(id)) return "to be made anew";
  const { plan } = factsOf(kernel);
  const shares = entry.runs.flatMap(({ differences }) =>
    differences.map((value, i) => (plan[i]?.origin === "seed" ? 0 : (value ?? 0))),
  );
  const skipped = Object.values(entry.skipped).reduce((sum, cases) => sum + cases, 0);
  const largest = formatDifference(Math.max(...shares));
  return skipped > 0 ? `${largest}; ${skipped} of ${plan.length} cases skipped` : largest;
}

/** The README's matrix: every kernel by every device, each cell its largest difference. */
export function kernelMatrix(files: readonly JudgedFile[], factsOf: PlanFacts): string {
  const columns = files.filter(({ evidence }) => evidence.kind !== "compiled");
  const lines = [
    ["kernel", ...columns.map(heading)],
    ["---", ...columns.map(() => "---")],
    ...KERNELS.map((kernel) => [`\`${kernel.id}\``, ...columns.map((file) => cell(kernel, file, factsOf))]),
  ];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** `text` with the matrix between its markers, or undefined where it has not each of them once. */
export function withMatrix(text: string, matrix: string): string | undefined {
  const begin = text.indexOf(MATRIX_BEGIN);
  const end = text.indexOf(MATRIX_END);
  if (begin < 0 || end < begin || text.split(MATRIX_BEGIN).length !== 2) return undefined;
  return `${text.slice(0, begin + MATRIX_BEGIN.length)}\n${matrix}\n${text.slice(end)}`;
}
