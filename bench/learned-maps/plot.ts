import { writeFile } from "node:fs/promises";
import { FLOOR, KEY_MAP } from "../cache-types/caches.ts";
import { mainRuns } from "./report.ts";
import type { Run } from "./results.ts";

export interface Point {
  /** a token, K and V */
  bytes: number;
  kl: number;
  label: string;
  look: keyof typeof LOOKS;
}

/** How a cache is read, as a mark: its colour, whether it is round, and what stands behind its name. */
const LOOKS = {
  plain: { colour: "#6b7078", round: false, behind: "" },
  mapped: { colour: "#0b6e4f", round: true, behind: ", mapped" },
  window: { colour: "#8a4fbf", round: false, behind: ", window" },
  both: { colour: "#1f5fbf", round: true, behind: ", both" },
} as const;

const MAPPED = `+${KEY_MAP}`;
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
    const title = `${run.title}, ${run.length} tokens: KL divergence against bytes a token`;
    await writeFile(`${folder}${name}`, plotPoints(title, pointsOf(run)));
    shown.push(`![${run.title}, ${run.length} tokens: divergence against bytes](${name})`);
  }
  return shown;
}

const [width, height, left, right, top, bottom] = [820, 560, 70, 60, 40, 50];

/** Divergence against bytes a token, both axes logarithmic, with the Pareto front: SVG. */
export function plotPoints(title: string, unsorted: readonly Point[]): string {
  const points = [...unsorted].sort((a, b) => a.bytes - b.bytes || a.kl - b.kl);
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
  const taken: Box[] = points.map(({ bytes, kl }) => box(x.at(bytes) - 6, y.at(kl) - 6, 12, 12));
  const topDown = [...points].sort((one, other) => other.kl - one.kl);
  const marks = topDown.map(({ bytes, kl, label, look }) => {
    const [cx, cy] = [x.at(bytes), y.at(kl)];
    const { colour, round, behind } = LOOKS[look];
    const shape = round
      ? `<circle cx="${cx}" cy="${cy}" r="4.5" fill="${colour}"/>`
      : `<rect x="${cx - 4}" y="${cy - 4}" width="8" height="8" fill="${colour}"/>`;
    const text = label + behind;
    const { at, isLeft, leader } = place(text, cx, cy, taken);
    const line = leader
      ? `<path d="M${cx} ${cy}L${isLeft ? at.left + at.width + 2 : at.left - 2} ${at.top + 6}" stroke="${colour}" stroke-width="0.6"/>`
      : "";
    return `${line}${shape}<text x="${at.left}" y="${at.top + 10}" textLength="${at.width}" lengthAdjust="spacingAndGlyphs" fill="${colour}">${text}</text>`;
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
    `<text x="${left}" y="22" font-size="14">${title}</text>`,
    `<g fill="#555" stroke="#e4e6ea" stroke-width="1" style="paint-order:stroke">${ticks.join("")}</g>`,
    `<path d="${line}" fill="none" stroke="#d1495b" stroke-width="1.5"/>`,
    ...marks,
    `<text x="${(left + width - right) / 2}" y="${height - 10}" text-anchor="middle">bytes a token, K and V (red: the Pareto front)</text>`,
    "</svg>",
    "",
  ].join("\n");
}

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

const box = (left: number, top: number, width: number, height: number): Box => ({ left, top, width, height });

const overlap = (one: Box, other: Box): boolean =>
  one.left < other.left + other.width &&
  other.left < one.left + one.width &&
  one.top < other.top + other.height &&
  other.top < one.top + one.height;

/** The place nearest to a mark where its label stands on nothing: beside it, else above or below with a leader. */
function place(
  text: string,
  cx: number,
  cy: number,
  taken: Box[],
): { at: Box; isLeft: boolean; leader: boolean } {
  const wide = Math.round(text.length * 5.6);
  for (let away = 0; away < height; away = away > 0 ? -away : 13 - away) {
    for (const isLeft of [false, true]) {
      const gap = away === 0 ? 9 : 22;
      const at = box(isLeft ? cx - gap - wide : cx + gap, cy - 6 + away, wide, 12);
      const inside =
        at.left > left && at.left + wide < width - 4 && at.top > top - 20 && at.top < height - bottom;
      if (!inside || taken.some((other) => overlap(at, other))) continue;
      taken.push(at);
      return { at, isLeft, leader: away !== 0 };
    }
  }
  return { at: box(cx + 9, cy - 6, wide, 12), isLeft: false, leader: false };
}

function pointsOf(run: Run): Point[] {
  return run.rows
    .filter(({ cache }) => cache !== FLOOR && !/^f16\/|\/f16/.test(cache))
    .filter(({ cache }) => !cache.includes("+") || cache.endsWith(MAPPED))
    .map(({ cache, bytesPerToken, kl }): Point => {
      const [k = "", v = ""] = cache.replace(MAPPED, "").split("/");
      const label = k === v ? k : `${k} / ${v}`;
      return { bytes: bytesPerToken, kl, label, look: cache.endsWith(MAPPED) ? "mapped" : "plain" };
    });
}

/** A logarithmic axis from `from` to `to`, with ticks at 1, 2 and 5, more where it is short. */
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
    for (const step of high - low < 3 ? [1, 2, 3, 4, 5, 6, 8] : [1, 2, 5]) {
      const value = Number((step * 10 ** power).toPrecision(1));
      if (Math.log(value) >= low && Math.log(value) <= high) ticks.push(value);
    }
  }
  return { at, ticks };
}
