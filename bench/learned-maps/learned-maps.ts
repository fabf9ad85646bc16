import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ensureNativeLibrary, type NativeLibrary } from "@eliza-inference/build";
import {
  type ChatMessage,
  findKnownModel,
  Inference,
  openStatistics,
  resolveModel,
  type Statistics,
  solvedMap,
} from "eliza-inference";
import { cutPieces } from "../cache-types/chunks.ts";
import { runQuality } from "../cache-types/quality-tool.ts";
import { writeSection } from "../document-section.ts";
import { drawPlots } from "./plot.ts";
import { renderRuns } from "./report.ts";
import { type Run, readRuns, rowOf, writeRun } from "./results.ts";

const USAGE = `usage: npm run bench -- learned-maps --model NAME[=PATH] --maps NAME=FILE,… --text FILE [options]
  --maps NAME=FILE,…  what calibrate wrote; a NAME begins with map, and one that ends in -unspread is solved without
                      spreading, in -values for values too
  --text FILE         .txt; .markers.txt where the model's markers in it are tokens; .json for messages that go
                      through the model's chat template
  --called TEXT       what the text is
  --calibrated-on TEXT   what the calibration's text is (the package's text)
  --lengths N,…       contexts (4096); the last 2,048 positions of each piece are scored
  --pieces N          pieces of the text (2)
  --caches K/V,…      each plain, if it can be, and behind every map; K/V+NAME behind that map alone, K/V- plain alone
  --threads N         (the processor's cores)
  --from FILE,…       what eliza-quality printed elsewhere over the same pieces, in place of running it
  --where TEXT        the machine that computed, if it was another
  --save              keep the results, go on from those that are kept, and write docs/learned-maps.md
  --draw              only that, from what is kept`;

const SCORED = 2048;
const CACHES = "q4_0/q4_0,turbo4_mix/turbo4_tcq,turbo3_mix/turbo3_tcq";
const DOCS = fileURLToPath(new URL("../../docs/", import.meta.url));

interface Settings {
  name: string;
  path: string;
  text: string;
  called: string;
  calibratedOn: string;
  pieces: number;
  caches: readonly string[];
  threads: number;
  save: boolean;
  native: NativeLibrary;
  maps: ReadonlyMap<string, Statistics>;
  from?: readonly string[];
  where?: string;
}

/** What a learned map is worth: caches plain and mapped, at several contexts. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      model: { type: "string", default: "smollm2-135m" },
      maps: { type: "string" },
      text: { type: "string" },
      called: { type: "string" },
      "calibrated-on": { type: "string", default: "the package's text" },
      lengths: { type: "string", default: "4096" },
      pieces: { type: "string", default: "2" },
      caches: { type: "string", default: CACHES },
      threads: { type: "string", default: String(availableParallelism()) },
      save: { type: "boolean", default: false },
      from: { type: "string" },
      where: { type: "string" },
      draw: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.draw) return draw();
  if (values.help || !values.maps || !values.text) return console.log(USAGE);
  const [name = "", given] = values.model.split("=", 2);
  const { path } = await resolveModel(given ?? name);
  const maps = new Map<string, Statistics>();
  for (const entry of values.maps.split(",")) {
    const [map = "", file = ""] = entry.split("=", 2);
    maps.set(map, await openStatistics(file, path));
  }
  const settings: Settings = {
    ...{ name, path, maps, text: values.text, called: values.called ?? basename(values.text) },
    ...{ pieces: Number(values.pieces), threads: Number(values.threads), save: values.save },
    calibratedOn: values["calibrated-on"],
    caches: expand(values.caches.split(","), [...maps.keys()]),
    native: await ensureNativeLibrary(),
    ...(values.from ? { from: values.from.split(",") } : {}),
    ...(values.where ? { where: values.where } : {}),
  };
  for (const length of values.lengths.split(",").map(Number)) {
    const result = await measure(length, settings);
    console.log(`${renderRuns([result])}\n`);
  }
  if (values.save) await draw();
}

/** Each cache plain, unless its type needs a map, and behind each map. */
function expand(asked: readonly string[], maps: readonly string[]): string[] {
  return asked.flatMap((cache) => {
    if (cache.includes("+")) return [cache];
    if (cache.endsWith("-")) return [cache.slice(0, -1)];
    return [...(cache.includes("_mix") ? [] : [cache]), ...maps.map((map) => `${cache}+${map}`)];
  });
}

async function measure(length: number, settings: Settings): Promise<Run> {
  const { name, path, maps, native, called, pieces } = settings;
  const scratch = await mkdtemp(join(tmpdir(), "eliza-learned-maps-"));
  try {
    const chunksFile = join(scratch, "chunks.txt");
    const tokens = await writePieces(path, settings.text, chunksFile, length, pieces);
    const kept = (await readRuns()).find(
      (old) => settings.save && old.tokens === tokens && old.model === name && old.where === settings.where,
    );
    const result: Run = {
      ...{ model: name, title: findKnownModel(name)?.title ?? name, text: called, tokens, length },
      ...{ start: length - SCORED, pieces, build: native.key, weights: "float32" },
      ...(settings.where ? { where: settings.where } : {}),
      maps: { ...kept?.maps, ...describeMaps(maps, settings.calibratedOn) },
      reference: kept?.reference ?? ({} as Run["reference"]),
      rows: kept?.rows ?? [],
    };
    const caches = settings.caches.filter((cache) => rowOf(result, cache)?.chunks !== pieces);
    if (caches.length === 0 && !settings.from) return result;
    await runQuality({
      ...{ tool: native.tool("eliza-quality"), model: path, chunksFile, caches },
      ...{ scratch: join(scratch, "logits"), float32: join(scratch, "float32.gguf") },
      ...(settings.from ? { from: settings.from } : { maps: await solveMaps(maps, length) }),
      ...{ start: length - SCORED, threads: settings.threads },
      onReference: (score) => {
        result.reference = score;
      },
      onScore: (score) => {
        result.rows = [...result.rows.filter((row) => row.cache !== score.cache), score];
        console.error(
          `${name} ${called} ${length} ${score.cache}: ${score.kl.toExponential(3)} ± ` +
            `${score.klHalfWidth.toExponential(1)}, ${score.positions} positions, ${score.cpuSeconds.toFixed(1)} s`,
        );
        if (settings.save && score.chunks === pieces) saving = saving.then(() => writeRun(result));
      },
    });
    await saving;
    return result;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

let saving: Promise<void> = Promise.resolve();

function describeMaps(maps: ReadonlyMap<string, Statistics>, text: string): Run["maps"] {
  return Object.fromEntries(
    [...maps].map(([name, { tokens, window }]) => [
      name,
      { tokens, window, text, spread: !solvedAs(name).unspread, values: solvedAs(name).values },
    ]),
  );
}

/** How a map of that name is solved. */
const solvedAs = (name: string): { unspread: boolean; values: boolean } => ({
  unspread: name.endsWith("-unspread"),
  values: name.endsWith("-values"),
});

async function solveMaps(
  maps: ReadonlyMap<string, Statistics>,
  contextSize: number,
): Promise<Record<string, string>> {
  const solved: Record<string, string> = {};
  for (const [name, statistics] of maps) {
    solved[name] = await solvedMap(statistics, { contextSize, ...solvedAs(name) });
  }
  return solved;
}

async function writePieces(
  model: string,
  text: string,
  file: string,
  length: number,
  pieces: number,
): Promise<string> {
  await using inference = await Inference.open(model, { contextSize: 256, threads: 1, kvMap: "off" });
  const content = await readFile(text, "utf8");
  const chat = text.endsWith(".json");
  const spoken = chat ? inference.renderPrompt(JSON.parse(content) as ChatMessage[]) : content;
  const parseSpecial = chat || text.endsWith(".markers.txt");
  const ids = await inference.tokenize(spoken, { parseSpecial });
  const lines = await cutPieces(inference, ids, { from: text, length, count: pieces });
  await writeFile(file, `${lines.join("\n")}\n`);
  return createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 16);
}

const BEGIN = "<!-- results: written by npm run bench -- learned-maps --draw -->";

/** Every kept run into the document's tables, and the plots. */
async function draw(): Promise<void> {
  const runs = await readRuns();
  const plots = await drawPlots(runs, DOCS);
  await writeSection(`${DOCS}learned-maps.md`, BEGIN, `${renderRuns(runs)}\n\n${plots.join("\n\n")}`);
}
