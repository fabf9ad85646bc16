import { KERNELS } from "../kernels.ts";
import { formatDifference } from "../report-table.ts";
import type { EvidenceFile } from "./evidence-files.ts";

export const MATRIX_BEGIN = "<!-- kernel matrix: npm run contract -- --table -->";
export const MATRIX_END = "<!-- end of kernel matrix -->";

const BACKEND_NAMES = { cpu: "CPU", vulkan: "Vulkan", cuda: "CUDA", metal: "Metal" } as const;

function heading({ evidence }: EvidenceFile): string {
  const name = BACKEND_NAMES[evidence.backend];
  if (evidence.kind === "emulated") return `${name}, emulated`;
  const device = evidence.device.replace(/\s*\(.*\)/, "");
  return `${name}, ${device}${evidence.kind === "software" ? " (software)" : ""}`;
}

/** The README's matrix: every kernel by every device, each cell its largest difference. */
export function kernelMatrix(files: readonly EvidenceFile[]): string {
  const columns = files.filter(({ evidence }) => evidence.kind !== "compiled");
  const lines = [
    ["kernel", ...columns.map(heading)],
    ["---", ...columns.map(() => "---")],
    ...KERNELS.map(({ id }) => [
      `\`${id}\``,
      ...columns.map(({ evidence }) => {
        const entry = evidence.kernels[id];
        if (!entry) return "–";
        return entry.maxDifference === null ? "wrong" : formatDifference(entry.maxDifference);
      }),
    ]),
  ];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** `text` with the matrix between its markers, or undefined where it has no markers. */
export function withMatrix(text: string, matrix: string): string | undefined {
  const begin = text.indexOf(MATRIX_BEGIN);
  const end = text.indexOf(MATRIX_END);
  if (begin < 0 || end < begin) return undefined;
  return `${text.slice(0, begin + MATRIX_BEGIN.length)}\n${matrix}\n${text.slice(end)}`;
}
