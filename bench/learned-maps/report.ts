import { FLOOR, KEY_MAP } from "../cache-types/caches.ts";
import { pairedShare, type Share } from "./paired-share.ts";
import { type Run, rowOf } from "./results.ts";

/** The texts that a model's main table is about. */
const MAIN_TEXTS = new Set(["an English manual", "documents of its own kind"]);
const BASE = "q4_0/q4_0";
const COMPARED = [BASE, "turbo4_mix/turbo4_tcq", "turbo3_mix/turbo3_tcq"];

/** Runs as Markdown, model by model: plain and mapped types by context, then other texts and calibrations. */
export function renderRuns(runs: readonly Run[]): string {
  const models = [...new Set(runs.map(({ model }) => model))].sort((a, b) => rank(a) - rank(b));
  return models
    .flatMap((model) => {
      const own = runs.filter((run) => run.model === model).sort((a, b) => a.length - b.length);
      return [`### ${own[0]!.title}`, renderMain(mainRuns(own)), renderOthers(own)];
    })
    .filter((part) => part !== "")
    .join("\n\n");
}

/** One model's runs on its main text by context, those with most positions first. */
export function mainRuns(runs: readonly Run[]): Run[][] {
  const main = runs.filter((run) => MAIN_TEXTS.has(run.text) && run.maps[KEY_MAP]);
  const lengths = [...new Set(main.map(({ length }) => length))].sort((a, b) => a - b);
  return lengths.map((length) =>
    main.filter((run) => run.length === length).sort((a, b) => b.pieces - a.pieces),
  );
}

function renderMain(contexts: readonly Run[][]): string {
  const runs = contexts.flat();
  if (runs.length === 0) return "";
  const { tokens, window, text } = runs[0]!.maps[KEY_MAP]!;
  const caches = [...new Set(runs.flatMap(({ rows }) => rows.map(({ cache }) => cache.replace(/\+.*/, ""))))]
    .filter((cache) => cache !== FLOOR)
    .sort((a, b) => order(a) - order(b));
  const heads = contexts.map(([run]) => `${count(run!.length)}: plain | mapped`);
  const lines = [
    `Calibrated on ${count(tokens)} tokens of ${text} in windows of ${count(window)}; the map is of keys. Shares of plain q4_0's divergence, paired 95 % intervals:`,
    "",
    `| K / V | bytes a token | ${heads.join(" | ")} |`,
    `|---|---|${contexts.map(() => "---|---|").join("")}`,
  ];
  for (const cache of caches) {
    const cells = contexts.flatMap((context) => [
      firstCell(context, cache),
      firstCell(context, `${cache}+${KEY_MAP}`),
    ]);
    if (cells.every((cell) => cell === "–")) continue;
    const bytes = runs.flatMap(({ rows }) => rows).find((row) => row.cache.replace(/\+.*/, "") === cache);
    lines.push(`| ${cache.replace("/", " / ")} | ${count(bytes!.bytesPerToken)} | ${cells.join(" | ")} |`);
  }
  const notes = contexts.flatMap((context) =>
    context.map((run, at) => {
      const base = rowOf(run, BASE)!;
      const noise = rowOf(run, FLOOR);
      return (
        `- ${count(run.length)}${at > 0 ? ", what the run above lacks" : ""}: ${count(run.reference.positions)} positions of ${run.text}, ` +
        `from ${count(run.start)} on, ${run.pieces} piece${run.pieces > 1 ? "s" : ""}; plain q4_0 ${digits(base.kl)} ± ${digits(base.klHalfWidth)}` +
        `${noise ? `; attention row by row ${digits(noise.kl)}` : ""}${run.where ? `; ${run.where}` : ""}`
      );
    }),
  );
  return [...lines, "", ...notes, ...renderLosses(runs)].join("\n");
}

/** From the first run that has the cache. */
function firstCell(context: readonly Run[], cache: string): string {
  const run = context.find((each) => rowOf(each, cache));
  return run ? shareCell(run, cache) : "–";
}

/** Types that lose more behind the map than without, if there are any. */
function renderLosses(runs: readonly Run[]): string[] {
  const worse: string[] = [];
  for (const run of runs) {
    for (const row of run.rows) {
      const mapped = rowOf(run, `${row.cache}+${KEY_MAP}`);
      if (!mapped) continue;
      const { share, halfWidth } = pairedShare(mapped, row);
      if (share > 1) worse.push(`${row.cache} at ${count(run.length)} ${shareText({ share, halfWidth })}`);
    }
  }
  return worse.length === 0
    ? []
    : [`- mapped against the same type without a map, where that is above 1: ${worse.join(", ")}`];
}

function renderOthers(runs: readonly Run[]): string {
  const lines: string[] = [];
  for (const run of runs) {
    const base = rowOf(run, BASE);
    if (!base) continue;
    for (const [name, { tokens, window, spread }] of Object.entries(run.maps)) {
      if (MAIN_TEXTS.has(run.text) && name === KEY_MAP && run.length !== 4096) continue; // in the main table
      const cells = COMPARED.map((cache) => shareCell(run, `${cache}+${name}`));
      if (cells.every((cell) => cell === "–")) continue;
      const how = `${count(tokens)} in windows of ${count(window)}${spread ? "" : ", **not spread**"}`;
      lines.push(
        `| ${run.text} | ${count(run.length)} | ${how} | ${digits(base.kl)} | ${cells.join(" | ")} |`,
      );
    }
  }
  if (lines.length < 2) return "";
  return [
    `| text | context | calibration tokens | plain q4_0 | ${COMPARED.map((cache) => (cache === BASE ? "q4_0, mapped" : cache.replace("/", " / "))).join(" | ")} |`,
    "|---|---|---|---|---|---|---|",
    ...lines,
  ].join("\n");
}

function shareCell(run: Run, cache: string): string {
  const [row, base] = [rowOf(run, cache), rowOf(run, BASE)];
  if (!row || !base) return "–";
  return cache === BASE ? "1" : shareText(pairedShare(row, base));
}

export function shareText({ share, halfWidth }: Share): string {
  const places = Math.max(0, 1 - Math.floor(Math.log10(halfWidth || 1)));
  return share < 0.001
    ? `${digits(share)} ± ${digits(halfWidth)}`
    : `${share.toFixed(places)} ± ${halfWidth.toFixed(places)}`;
}

function order(cache: string): number {
  return TYPES.findIndex((type) => cache.includes(type));
}

const TYPES = [
  ...["q8_0", "q4_0", "iq4_nl", "turbo4_mix", "turbo4_tcq", "turbo4"],
  ...["turbo3_mix", "turbo3_tcq", "turbo2_mix"],
];

const rank = (model: string): number => ["smollm2-135m", "gemma3-270m", "pico"].indexOf(model);
const count = (value: number): string => value.toLocaleString("en");

function digits(value: number): string {
  return value < 1e-4 ? value.toExponential(1) : Number(value.toPrecision(2)).toString();
}
