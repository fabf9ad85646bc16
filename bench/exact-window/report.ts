import { cachePresets, type PresetTypes, presetTypes } from "eliza-inference";
import type { Score } from "../cache-types/quality-tool.ts";
import { pairedShare } from "../learned-maps/paired-share.ts";
import { shareText } from "../learned-maps/report.ts";
import { BASE, cacheOf, WAYS, type Way, WINDOW_MAP } from "./plan.ts";
import { findCache, perplexityRise, positionsOf, type WindowRow, type WindowRun } from "./results.ts";

/** Pairs in the order of the tables. */
const PAIRS = [
  ...["q8_0/q8_0", "q4_0/q4_0", "turbo4/turbo4", "turbo4_tcq/turbo4_tcq", "turbo4_mix/turbo4_tcq"],
  ...["turbo4_tcq/turbo3_tcq", "turbo4_mix/turbo3_tcq", "turbo3_mix/turbo4_tcq", "turbo3_tcq/turbo3_tcq"],
  ...["turbo3_mix/turbo3_tcq", "turbo2_tcq/turbo2_tcq", "turbo2_mix/turbo2_tcq"],
];
const KEYS = ["q4_0/f16", "turbo4_mix/f16", "turbo3_mix/f16", "turbo2_mix/f16"];
const VALUES = ["f16/q4_0", "f16/turbo4_tcq", "f16/turbo3_tcq", "f16/turbo2_tcq"];
const MODELS = ["smollm2-135m", "gemma3-270m", "pico"];

/** Every kept run as Markdown: shares by model and context, then presets, then what was held against what. */
export function renderWindowRuns(runs: readonly WindowRun[]): string {
  const tables = MODELS.flatMap((model) => {
    const lengths = [...new Set(runs.filter((run) => run.model === model).map(({ length }) => length))];
    return lengths.sort((a, b) => a - b).map((length) => renderContext(runs, model, length));
  });
  return [...tables, renderPresets(runs), renderControls(runs)].join("\n\n");
}

function renderContext(runs: readonly WindowRun[], model: string, length: number): string {
  const own = runs.filter((run) => run.model === model && run.length === length);
  const noted = own.filter((run) => run.rows.some(({ cache }) => /@8/.test(cache)));
  const mark = (run: WindowRun, { where }: WindowRow) =>
    "*".repeat(noted.indexOf(run)) + (where === noted[0]!.rows[0]!.where ? "" : "°");
  const lines = [
    `### ${own[0]!.title}, ${count(length)} tokens`,
    "",
    "| K / V | bytes a token | with the window | of f16 | plain | mapped | window | both | perplexity |",
    "|---|---|---|---|---|---|---|---|---|",
  ];
  const groups: [string, string[]][] = [
    ["K and V", PAIRS],
    ["K alone, V f16", KEYS],
    ["V alone, K f16", VALUES],
  ];
  for (const [title, pairs] of groups) {
    const found = pairs.flatMap((types) => {
      const cells = WAYS.map((way) => findCache(own, model, length, cacheOf(types, way)));
      return cells.some(Boolean) ? [{ types, cells }] : [];
    });
    if (found.length === 0) continue;
    lines.push(`| **${title}** | | | | | | | | |`);
    for (const { types, cells } of found) {
      const shares = cells.map((cell) => {
        const base = cell && findCache([cell.run], model, length, BASE);
        if (!cell || !base) return "–";
        return cell.row === base.row
          ? "1"
          : shareText(pairedShare(cell.row, base.row)) + mark(cell.run, cell.row);
      });
      const [plain, mapped, window, both] = cells;
      const [without, best] = [plain ?? mapped, both ?? window];
      const share = (best ?? without)!;
      lines.push(
        `| ${types.replace("/", " / ")} | ${bytes(without?.row, length)} | ${bytes(best?.row, length)} | ` +
          `${percent(share.row.bytes / share.run.reference.bytes)} | ${shares.join(" | ")} | ${riseText(share.row)} |`,
      );
    }
  }
  const notes = noted.map((run, at) => {
    const base = findCache([run], model, length, BASE);
    const machines = [...new Set(run.rows.map(({ where }) => where))];
    return (
      `- ${"\\*".repeat(at)}${at > 0 ? " " : ""}${count(positionsOf(run))} positions of ${run.text}, from ${count(run.start)} on, ` +
      `${run.pieces} piece${run.pieces > 1 ? "s" : ""}${base ? `; plain q4_0 ${base.row.kl.toPrecision(3)} ± ${base.row.klHalfWidth.toPrecision(2)}` : ""}; ` +
      machines.map((where, i) => (i === 0 ? where : `° ${where}`)).join(", ")
    );
  });
  return [...lines, "", ...notes].join("\n");
}

/** What each preset is, with a map and without. */
function renderPresets(runs: readonly WindowRun[]): string {
  const lines = [
    "### What the presets cost",
    "",
    "Bytes of the whole cache, window and sliding windows counted, as shares of f16's, and how much perplexity rises.",
    "",
  ];
  const contexts = MODELS.flatMap((model) => {
    const lengths = [...new Set(runs.filter((run) => run.model === model).map(({ length }) => length))];
    return lengths.sort((a, b) => a - b).map((length) => ({ model, length }));
  });
  const head = contexts.map(
    ({ model, length }) =>
      `${runs.find((run) => run.model === model)!.title.replace(/ .*/, "")} ${count(length)}`,
  );
  lines.push(`| preset | K / V | ${head.join(" | ")} |`, `|---|---|${head.map(() => "---|").join("")}`);
  for (const name of cachePresets) {
    if (name === "f16") continue;
    for (const way of ["both", "window"] as const) {
      const types = pairOf(presetTypes[name], way);
      const cells = contexts.map(({ model, length }) => {
        const found = findCache(runs, model, length, cacheOf(types, way));
        if (!found) return "–";
        return `${percent(found.row.bytes / found.run.reference.bytes)}, ${riseText(found.row)}`;
      });
      const label = way === "both" ? `\`${name}\`` : "… without a map";
      lines.push(`| ${label} | ${types.replace("/", " / ")} | ${cells.join(" | ")} |`);
    }
  }
  return lines.join("\n");
}

export function pairOf(types: PresetTypes, way: Way): string {
  return (way === "both" ? types.mapped : types.plain).join("/");
}

/** The same positions one token at a time, eight at a time and in whole batches; and a map without its window. */
function renderControls(runs: readonly WindowRun[]): string {
  const lines: string[] = [];
  for (const run of runs) {
    const single = run.rows.filter(({ cache }) => /@1(\+|$)/.test(cache) && !cache.startsWith("f16"));
    if (single.length === 0) continue;
    for (const row of single) {
      const eight = tail(runs, run, row.cache.replace("@1", "@8"), row);
      if (eight !== undefined)
        lines.push(
          `| ${run.title} | ${count(row.positions)} | ${row.cache} | ${row.kl.toFixed(5)} | ${eight.toFixed(5)} |`,
        );
    }
  }
  const maps: string[] = [];
  for (const run of runs) {
    const wrong = run.rows.find(({ cache }) => cache === `${BASE}+${WINDOW_MAP}`);
    if (!wrong) continue;
    const share = (cache: string, base: string) => {
      const [ours, theirs] = [cache, base].map((name) => tail(runs, run, name, wrong));
      return ours !== undefined && theirs !== undefined ? (ours / theirs).toFixed(2) : "–";
    };
    maps.push(
      `| ${run.title} | ${count(wrong.positions)} | ${share(`${BASE}+${WINDOW_MAP}`, BASE)} | ` +
        `${share(cacheOf("q4_0/q4_0", "mapped"), BASE)} | ` +
        `${share(cacheOf("q4_0/q4_0", "mapped", 0), cacheOf("q4_0/q4_0", "plain", 0))} |`,
    );
  }
  return [
    "### One at a time, and maps without their window",
    "",
    "Divergence of the same positions, scored one token at a time as a reply is generated, and eight at a time. Sums in " +
      "another order move a value between two codes to the other one here and there, so blocks of 64 positions differ both ways:",
    "",
    "| model | positions | cache | one at a time | eight at a time |",
    "|---|---|---|---|---|",
    ...lines,
    "",
    "Mapped q4_0 without a window, as a share of plain q4_0 on the same positions:",
    "",
    "| model | positions | map made for a window | map made for none | map made for none, whole batches |",
    "|---|---|---|---|---|",
    ...maps,
  ].join("\n");
}

/** Divergence of a cache on the positions of `like`: its own run's, or the last of the first piece of a longer one. */
function tail(runs: readonly WindowRun[], run: WindowRun, cache: string, like: Score): number | undefined {
  const found =
    findCache([run], run.model, run.length, cache) ?? findCache(runs, run.model, run.length, cache);
  if (!found) return undefined;
  if (found.run === run) return found.row.kl;
  const each = found.row.klBlocks.length / found.run.pieces;
  const blocks = found.row.klBlocks.slice(each - like.klBlocks.length, each);
  return blocks.reduce((sum, value) => sum + value / blocks.length, 0);
}

function riseText(row: Score): string {
  const { rise, halfWidth } = perplexityRise(row);
  return `${rise < 0 ? "−" : "+"}${(Math.abs(rise) * 100).toFixed(2)} ± ${(halfWidth * 100).toFixed(2)} %`;
}

const bytes = (row: Score | undefined, length: number): string =>
  row ? count(Math.round(row.bytes / length)) : "–";
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const count = (value: number): string => value.toLocaleString("en");
