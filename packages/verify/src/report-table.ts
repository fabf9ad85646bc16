import type { DeviceReport, KernelVerdict, VerifyReport } from "./verify.ts";

function pad(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, i) => cell.padEnd(widths[i]!))
    .join("  ")
    .trimEnd();
}

/** Columns aligned with spaces, the first line a heading. */
export function alignColumns(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines.map((line) => pad(line, widths)).join("\n");
}

/** Two significant digits; 0 stays 0. */
export function formatDifference(value: number): string {
  return value === 0 ? "0" : Number.isFinite(value) ? value.toExponential(1) : "wrong";
}

function verdictLine(verdict: KernelVerdict): string[] {
  const failed = verdict.failures.length;
  return [
    verdict.kernel,
    String(verdict.cases),
    String(Object.values(verdict.skipped).reduce((sum, cases) => sum + cases, 0)),
    formatDifference(verdict.maxDifference),
    failed === 0 ? "pass" : `FAIL ${failed}`,
    `${(verdict.milliseconds / 1000).toFixed(1)} s`,
  ];
}

function deviceText(report: DeviceReport): string {
  const { description, unavailable } = report;
  if (!description) return `${report.device}: ${unavailable?.message}\n  ${unavailable?.hint}`;
  const labels = [
    ...new Set(report.kernels.flatMap(({ runs }) => runs.map(({ configuration }) => configuration))),
  ].filter(Boolean);
  const head = `${report.device} (${description.kind}): ${description.model}, ${description.driver}; ${labels.join(", ")}`;
  const lines = [
    ["kernel", "cases", "skipped", "largest", "verdict", "time"],
    ...report.kernels.map(verdictLine),
  ];
  const failures = report.kernels.flatMap((verdict) =>
    verdict.failures.slice(0, 3).map(({ name, reason }) => `  ${verdict.kernel}: ${name}: ${reason}`),
  );
  const lacking = report.lacking.map(({ kernel, reason }) => `  ${kernel}: not here, ${reason}`);
  const skipped = report.kernels.flatMap((verdict) =>
    Object.entries(verdict.skipped).map(
      ([reason, cases]) => `  ${verdict.kernel}: ${cases} cases skipped, ${reason}`,
    ),
  );
  return [head, alignColumns(lines), ...failures, ...lacking, ...skipped].join("\n");
}

/** The report for a reader: a table a device; why a device is missing; the first failures of each kernel. */
export function reportText(report: VerifyReport): string {
  return report.devices.map(deviceText).join("\n\n");
}
