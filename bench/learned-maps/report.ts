import { FLOOR } from "../cache-types/caches.ts";
import { pairedShare } from "./paired-share.ts";
import { type Run, rowOf } from "./results.ts";

/** The map that a model's main table is about, and the text that it is scored on. */
const MAIN_MAP = "map";
const MAIN_TEXTS = new Set(["an English manual", "documents of its own kind"]);
const BASE = "q4_0/q4_0";
const COMPARED = [BASE, "turbo4_mix/turbo4_tcq", "turbo3_mix/turbo3_tcq"];

/** Runs as Markdown, model by model: plain and mapped types by context, then other texts, lengths and calibrations. */
export function renderRuns(runs: readonly Run[]): string {
  const models = [...new Set(runs.map(({ model }) => model))];
  return models
    .flatMap((model) => {
      const own = runs.filter((run) => run.model === model).sort((a, b) => a.length - b.length);
      const main = own.filter((run) => MAIN_TEXTS.has(run.text) && run.maps[MAIN_MAP]);
      return [`### ${own[0]!.title}`, ...(main.length > 0 ? [renderMain(main)] : []), renderOthers(own)];
    })
    .filter((part) => part !== "")
    .join("\n\n");
}

function renderMain(runs: readonly Run[]): string {
  const { tokens, window, text } = runs[0]!.maps[MAIN_MAP]!;
  const caches = [...new Set(runs.flatMap(({ rows }) => rows.map(({ cache }) => cache.replace(/\+.*/, ""))))]
    .filter((cache) => cache !== FLOOR)
    .sort((a, b) => order(a) - order(b));
  const lines = [
    `Calibrated on ${count(tokens)} tokens of ${text} in windows of ${count(window)}. Shares of plain q4_0's divergence on both sides, with their paired 95 % intervals:`,
    "",
    `| K / V | bytes a token | ${runs.map(({ length }) => `${count(length)}: plain | mapped`).join(" | ")} |`,
    `|---|---|${runs.map(() => "---|---|").join("")}`,
  ];
  for (const cache of caches) {
    const onlyValues = cache.startsWith("f16/");
    const cells = runs.flatMap((run) => [
      shareCell(run, cache),
      shareCell(run, `${cache}+${onlyValues ? `${MAIN_MAP}-values` : MAIN_MAP}`),
    ]);
    if (cells.every((cell) => cell === "–")) continue;
    const bytes = runs.flatMap(({ rows }) => rows).find((row) => row.cache.replace(/\+.*/, "") === cache);
    lines.push(`| ${cache.replace("/", " / ")} | ${count(bytes!.bytesPerToken)} | ${cells.join(" | ")} |`);
  }
  const notes = runs.map((run) => {
    const base = rowOf(run, BASE);
    const noise = rowOf(run, FLOOR);
    const q4 = base ? `${digits(base.kl)} ± ${digits(base.klHalfWidth)}` : "not measured";
    return `${count(run.length)} tokens: ${count(run.reference.positions)} positions of ${run.text} in ${run.pieces} piece${run.pieces > 1 ? "s" : ""}, plain q4_0 ${q4}${noise ? `, noise of attention row by row ${digits(noise.kl)}` : ""}`;
  });
  return [...lines, "", `${notes.join("; ")}.`].join("\n");
}

function renderOthers(runs: readonly Run[]): string {
  const lines: string[] = [];
  for (const run of runs) {
    if (!rowOf(run, BASE)) continue;
    const plain = digits(rowOf(run, BASE)!.kl);
    for (const [name, { tokens, window, spread, values }] of Object.entries(run.maps)) {
      const cells = COMPARED.map((cache) => shareCell(run, `${cache}+${name}`));
      if (cells.every((cell) => cell === "–")) continue;
      const how = `${count(tokens)} in windows of ${count(window)}${spread ? "" : ", **not spread**"}${values ? ", values too" : ""}`;
      lines.push(`| ${run.text} | ${count(run.length)} | ${how} | ${plain} | ${cells.join(" | ")} |`);
    }
  }
  if (lines.length === 0) return "";
  return [
    `| text | context | calibration tokens | plain q4_0 | ${COMPARED.map((cache) => (cache === BASE ? "q4_0" : cache.replace("/", " / "))).join(" | ")} |`,
    "|---|---|---|---|---|---|---|",
    ...lines,
  ].join("\n");
}

function shareCell(run: Run, cache: string): string {
  const [row, base] = [rowOf(run, cache), rowOf(run, BASE)];
  if (!row || !base) return "–";
  if (cache === BASE) return "1";
  const { share, halfWidth } = pairedShare(row, base);
  return `${digits(share)} ± ${digits(halfWidth)}`;
}

/** Both sides first, then keys alone, then values alone; by bytes within each. */
function order(cache: string): number {
  const side = cache.startsWith("f16/") ? 2 : cache.endsWith("/f16") ? 1 : 0;
  return 100 * side + TYPES.findIndex((type) => cache.includes(type));
}

const TYPES = [
  ...["q8_0", "q4_0", "iq4_nl", "turbo4_mix", "turbo4_tcq", "turbo4"],
  ...["turbo3_mix", "turbo3_tcq", "turbo3", "tbq3", "turbo2_mix", "turbo2_tcq", "q4_polar"],
];

const count = (value: number): string => value.toLocaleString("en");

function digits(value: number): string {
  if (value < 1e-4) return value.toExponential(1);
  return value < 0.1 ? Number(value.toPrecision(2)).toString() : value.toFixed(2);
}
