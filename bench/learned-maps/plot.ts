import { writeFile } from "node:fs/promises";
import { FLOOR } from "../cache-types/caches.ts";
import { mainRuns } from "./report.ts";
import type { Run } from "./results.ts";

interface Point {
  bytes: number;
  kl: number;
  label: string;
  isMapped: boolean;
}

const MAIN_MAP = "+map";
/** Fewer points make no picture. */
const fewest = 8;

/** Writes a plot of each model's longest run that has points enough. Returns the Markdown that shows them. */
export async function drawPlots(runs: readonly Run[], folder: string): Promise<string[]> {
  const shown: string[] = [];
  for (const model of new Set(runs.map((run) => run.model))) {
    const run = mainRuns(runs.filter((each) => each.model === model))
      .flat()
      .filter((each) => pointsOf(each).length >= fewest)
      .sort((a, b) => pointsOf(b).length - pointsOf(a).length || b.length - a.length)[0];
    if (!run) continue;
    const name = `learned-maps-${run.model}.svg`;
    await writeFile(`${folder}${name}`, plotRun(run));
    shown.push(`![${run.title}, ${run.length} tokens: divergence against bytes](${name})`);
  }
  return shown;
}

const [width, height, left, right, top, bottom] = [760, 460, 70, 20, 40, 50];

/** Divergence against bytes a token, both axes logarithmic, with the Pareto front of mapped and plain types: SVG. */
function plotRun(run: Run): string {
  const points = pointsOf(run);
  const x = scale(
    points.map(({ bytes }) => bytes),
    left,
    width - right,
  );
  const y = scale(
    points.map(({ kl }) => kl),
    height - bottom,
    top,
  );
  const front = points.filter((point) =>
    points.every((other) => other === point || other.bytes > point.bytes || other.kl > point.kl),
  );
  const line = front
    .map(({ bytes, kl }, at) => `${at === 0 ? "M" : "L"}${x.at(bytes)} ${y.at(kl)}`)
    .join(" ");
  const labels: { x: number; y: number }[] = [];
  /** Where a label does not stand on an earlier one. */
  const free = (at: number, from: number): number => {
    const isTaken = (y: number) =>
      labels.some((other) => Math.abs(other.x - at) < 170 && Math.abs(other.y - y) < 12);
    let to = from;
    while (isTaken(to)) to += 3;
    labels.push({ x: at, y: to });
    return to;
  };
  const topDown = [...points].sort((one, other) => other.kl - one.kl);
  const marks = topDown.map(({ bytes, kl, label, isMapped }) => {
    const [cx, cy] = [x.at(bytes), y.at(kl)];
    const colour = isMapped ? "#0b6e4f" : "#8a8f98";
    const shape = isMapped
      ? `<circle cx="${cx}" cy="${cy}" r="4.5" fill="${colour}"/>`
      : `<rect x="${cx - 4}" y="${cy - 4}" width="8" height="8" fill="${colour}"/>`;
    return `${shape}<text x="${cx + 8}" y="${free(cx, cy) + 4}" fill="${colour}">${label}${isMapped ? ", mapped" : ""}</text>`;
  });
  const ticks = [
    ...x.ticks.map(
      (value) =>
        `<text x="${x.at(value)}" y="${height - bottom + 18}" text-anchor="middle">${value}</text><line x1="${x.at(value)}" x2="${x.at(value)}" y1="${top}" y2="${height - bottom}"/>`,
    ),
    ...y.ticks.map(
      (value) =>
        `<text x="${left - 8}" y="${y.at(value) + 4}" text-anchor="end">${value}</text><line x1="${left}" x2="${width - right}" y1="${y.at(value)}" y2="${y.at(value)}"/>`,
    ),
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="${left}" y="22" font-size="14">${run.title}, ${run.length} tokens: KL divergence against bytes a token</text>`,
    `<g fill="#555" stroke="#e4e6ea" stroke-width="1" style="paint-order:stroke">${ticks.join("")}</g>`,
    `<path d="${line}" fill="none" stroke="#d1495b" stroke-width="1.5"/>`,
    ...marks,
    `<text x="${(left + width - right) / 2}" y="${height - 10}" text-anchor="middle">bytes a token, K and V (red: the Pareto front)</text>`,
    "</svg>",
    "",
  ].join("\n");
}

function pointsOf(run: Run): Point[] {
  return run.rows
    .filter(({ cache }) => cache !== FLOOR && !/^f16\/|\/f16/.test(cache))
    .filter(({ cache }) => !cache.includes("+") || cache.endsWith(MAIN_MAP))
    .map(({ cache, bytesPerToken, kl }): Point => {
      const [k = "", v = ""] = cache.replace(MAIN_MAP, "").split("/");
      const label = k === v ? k : `${k} / ${v}`;
      return { bytes: bytesPerToken, kl, label, isMapped: cache.endsWith(MAIN_MAP) };
    })
    .sort((a, b) => a.bytes - b.bytes || a.kl - b.kl);
}

/** A logarithmic axis from `from` to `to`, with ticks at 1, 2 and 5. */
function scale(
  values: readonly number[],
  from: number,
  to: number,
): { at: (value: number) => number; ticks: number[] } {
  const [low, high] = [Math.log(Math.min(...values) * 0.85), Math.log(Math.max(...values) * 1.25)];
  const at = (value: number) =>
    Math.round(10 * (from + ((Math.log(value) - low) / (high - low)) * (to - from))) / 10;
  const ticks: number[] = [];
  for (let power = Math.floor(low / Math.LN10); power <= high / Math.LN10; power++) {
    for (const step of [1, 2, 5]) {
      const value = Number((step * 10 ** power).toPrecision(1));
      if (Math.log(value) >= low && Math.log(value) <= high) ticks.push(value);
    }
  }
  return { at, ticks };
}
