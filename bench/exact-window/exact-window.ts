import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { findKnownModel, Inference, openStatistics, resolveModel, solvedMap } from "eliza-inference";
import { cutPieces } from "../cache-types/chunks.ts";
import { type ReferenceScore, runQuality, type Score } from "../cache-types/quality-tool.ts";
import { writeSection } from "../document-section.ts";
import { drawFigures } from "./figures.ts";
import { PLAIN_MAP, PLAN, WINDOW_MAP } from "./plan.ts";
import { renderWindowRuns } from "./report.ts";
import { readWindowRuns, type WindowRun, writeWindowRun } from "./results.ts";

const USAGE = `usage: npm run bench -- exact-window [options]
  --prepare FOLDER --models NAME=PATH,… --maps NAME=WINDOW.kvmap:PLAIN.kvmap,… --texts NAME=FILE,…
      writes what eliza-quality needs to score the plan (plan.ts): pieces, solved maps, and jobs.txt, a line a call:
      ID MODEL ARGUMENT… (eliza-quality MODEL.gguf ARGUMENT… threads=N scratch=FILE > ID.jsonl)
  --from FOLDER --where TEXT    keeps what these calls printed, and the machine that computed
  --draw                        writes docs/exact-window.md and its figures from what is kept`;

const DOCS = fileURLToPath(new URL("../../docs/", import.meta.url));
const BEGIN = "<!-- results: written by npm run bench -- exact-window --draw -->";
const TEXTS: Readonly<Record<string, string>> = { pico: "documents of its own kind" };

/** What the exact window and learned maps are worth together, scored elsewhere, kept and drawn here. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      prepare: { type: "string" },
      models: { type: "string", default: "" },
      maps: { type: "string", default: "" },
      texts: { type: "string", default: "" },
      from: { type: "string" },
      where: { type: "string" },
      draw: { type: "boolean", default: false },
    },
  });
  if (values.prepare)
    return prepare(values.prepare, named(values.models), named(values.maps), named(values.texts));
  if (values.from) {
    if (!values.where) throw new Error("--from needs --where, the machine that computed");
    await keep(values.from, values.where);
  } else if (!values.draw) return console.log(USAGE);
  const runs = await readWindowRuns();
  const figures = await drawFigures(runs, DOCS);
  await writeSection(
    join(DOCS, "exact-window.md"),
    BEGIN,
    `${renderWindowRuns(runs)}\n\n${figures.join("\n\n")}`,
  );
}

const named = (list: string): Map<string, string> =>
  new Map(list.split(",").map((entry) => entry.split("=", 2) as [string, string]));

async function prepare(
  folder: string,
  models: ReadonlyMap<string, string>,
  maps: ReadonlyMap<string, string>,
  texts: ReadonlyMap<string, string>,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [model, given] of models) {
    const { path } = await resolveModel(given ?? model);
    const [text, pair] = [texts.get(model), maps.get(model)];
    if (!text || !pair) throw new Error(`${model} needs --texts and --maps`);
    await using inference = await Inference.open(path, { contextSize: 256, threads: 1, kvMap: "off" });
    const ids = await inference.tokenize(await readFile(text, "utf8"), { parseSpecial: false });
    const parts = PLAN.filter((part) => part.model === model);
    for (const { length, pieces } of parts) {
      const lines = await cutPieces(inference, ids, { from: text, length, count: pieces });
      await writeFile(join(folder, piecesFile(model, length, pieces)), `${lines.join("\n")}\n`);
      for (const [at, file] of pair.split(":").entries()) {
        const solved = await solvedMap(await openStatistics(file, path), { contextSize: length });
        await copyFile(solved, join(folder, mapFile(model, length, at === 0 ? WINDOW_MAP : PLAIN_MAP)));
      }
    }
  }
  const jobs = PLAN.filter(({ model }) => models.has(model)).map(
    ({ id, model, length, pieces, start, caches }) =>
      `${id} ${model} ${piecesFile(model, length, pieces)} start=${start} streams=${pieces} ` +
      [WINDOW_MAP, PLAIN_MAP].map((map) => `${map}=${mapFile(model, length, map)} `).join("") +
      caches.join(" "),
  );
  await writeFile(join(folder, "jobs.txt"), `${jobs.join("\n")}\n`);
}

const piecesFile = (model: string, length: number, pieces: number) => `${model}-${length}-${pieces}.txt`;
const mapFile = (model: string, length: number, map: string) => `${model}-${length}-${map}.gguf`;

/** Files named MODEL-LENGTH-SCORED-PART.jsonl, parts of the same positions into one run; rows of fewer pieces than the reference are left out. */
async function keep(folder: string, where: string): Promise<void> {
  const runs = await readWindowRuns();
  for (const name of (await readdir(folder)).sort()) {
    const [, model = "", length, scored] = /^(.+)-(\d+)-(\d+)-\w+\.jsonl$/.exec(name) ?? [];
    if (!length || !scored) continue;
    let reference: ReferenceScore | undefined;
    const rows = new Map<string, Score>();
    await runQuality({
      ...{ tool: "", model: "", chunksFile: "", scratch: "", start: 0, threads: 0, caches: [] },
      from: [join(folder, name)],
      onReference: (score) => {
        reference = score;
      },
      onScore: (score) => rows.set(score.cache, score),
    });
    if (!reference) continue;
    const pieces = reference.chunks;
    const start = Number(length) - Number(scored);
    let run = runs.find((old) => old.model === model && old.length === Number(length) && old.start === start);
    if (run?.pieces !== pieces) {
      const title = findKnownModel(model)?.title ?? model;
      const text = TEXTS[model] ?? "an English manual";
      run = { model, title, text, length: Number(length), start, pieces, reference, rows: [] } as WindowRun;
      runs.push(run);
    }
    for (const row of rows.values()) {
      if (row.chunks !== pieces) continue;
      run.rows = [...run.rows.filter((old) => old.cache !== row.cache), { ...row, where }];
    }
    await writeWindowRun(run);
    console.log(`${basename(name)}: ${rows.size} caches`);
  }
}
