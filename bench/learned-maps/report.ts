import { FLOOR } from "../cache-types/caches.ts";
import { type Run, rowOf } from "./results.ts";

/** One run as Markdown: shares are of plain q4_0's divergence, the floor taken from both. */
export function renderRun(run: Run): string {
  const { calibration } = run;
  const floor = rowOf(run, FLOOR)?.kl ?? 0;
  const base = rowOf(run, "q4_0/q4_0")?.kl;
  const lines = [
    `### ${run.title}, ${run.length.toLocaleString("en")} tokens`,
    "",
    `${run.reference.positions.toLocaleString("en")} positions of ${run.text}, from ${run.start.toLocaleString("en")} on; ` +
      `weights ${run.weights === "float32" ? "in float32" : "as in the file"}; calibrated on ` +
      `${calibration.tokens.toLocaleString("en")} tokens of ${calibration.text} in windows of ` +
      `${calibration.window.toLocaleString("en")}, ${calibration.spread ? "spread over the context" : "**not spread**"}; ` +
      `the map is of ${calibration.values ? "**keys and values**" : "keys"}. ` +
      `The path's own noise: ${floor === 0 ? "not measured" : floor.toExponential(1)}.`,
    "",
    "| K / V | bytes a token | KL divergence | × q4_0 | same top token |",
    "|---|---|---|---|---|",
  ];
  for (const row of run.rows) {
    if (row.cache === FLOOR) continue;
    lines.push(
      `| ${[
        row.cache.replace("/", " / ").replace("+map", ", mapped"),
        row.bytesPerToken.toLocaleString("en"),
        `${digits(row.kl)} ± ${digits(row.klHalfWidth)}`,
        base === undefined ? "–" : ((row.kl - floor) / (base - floor)).toFixed(2),
        `${(100 * row.top1).toFixed(1)} %`,
      ].join(" | ")} |`,
    );
  }
  return lines.join("\n");
}

function digits(value: number): string {
  return value < 1e-4 ? value.toExponential(1) : value.toPrecision(3);
}
