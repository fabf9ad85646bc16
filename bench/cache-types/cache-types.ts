import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ensureNativeLibrary, type NativeLibrary } from "@eliza-inference/build";
import { findKnownModel, Inference, openStatistics, resolveModel, solvedMap } from "eliza-inference";
import { writeSection } from "../document-section.ts";
import { cacheOf, FLOOR, KEY_MAP, mappedCaches, type Side, TYPES, VALUE_MAP } from "./caches.ts";
import { type Chunks, GENERATED, TEXT, writeChunks } from "./chunks.ts";
import { computedBytesPerToken } from "./computed-bytes.ts";
import { type ModelShape, type ReferenceScore, runQuality } from "./quality-tool.ts";
import { type Engine, findRow, type ModelResults, readResults, setRow, writeResults } from "./results.ts";
import { renderModel } from "./table.ts";

const USAGE = `usage: npm run bench -- cache-types [options]
  --models NAME[=PATH],…   known models, or names of your own with their files (smollm2-135m,gemma3-270m)
  --types TYPE,…           cache types (all)
  --sides both,k,v         which side has the type (all three)
  --caches K/V[@BATCH],…   these caches instead of types and sides
  --map FILE               also each type through the learned map that calibrate wrote, and the mixed types
  --upstream               llama.cpp without edits instead of our engine
  --quantized-weights      the weights as the file has them; otherwise the same weights held in float32
  --start N --length N --chunks N   tokens before the first scored one, of a piece, pieces (1024, 3072, 2)
  --text FILE,…            other texts, or "${GENERATED}", than the benchmark's own; never saved
  --threads N              (the processor's cores)
  --from FILE,…            what eliza-quality printed elsewhere over the same pieces, in place of running it
  --where TEXT             the machine that computed, if it was another
  --fresh                  measure again what bench/cache-types/results holds
  --save                   keep the results there and write docs/cache-types.md
  --render                 measure nothing, write docs/cache-types.md from what is saved
  --json                   the results as JSON`;

const DOCUMENT = fileURLToPath(new URL("../../docs/cache-types.md", import.meta.url));
const BEGIN = "<!-- results: written by npm run bench -- cache-types --save -->";

/** What each cache type costs each model, against an f16 cache and in the same run. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      models: { type: "string", default: "smollm2-135m,gemma3-270m" },
      types: { type: "string", default: TYPES.join(",") },
      sides: { type: "string", default: "both,k,v" },
      caches: { type: "string" },
      map: { type: "string" },
      upstream: { type: "boolean", default: false },
      "quantized-weights": { type: "boolean", default: false },
      start: { type: "string", default: "1024" },
      length: { type: "string", default: "3072" },
      chunks: { type: "string", default: "2" },
      text: { type: "string" },
      threads: { type: "string", default: String(availableParallelism()) },
      from: { type: "string" },
      where: { type: "string" },
      fresh: { type: "boolean", default: false },
      save: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      render: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  if (values.render) return writeDocument();
  const engine =
    `${values.upstream ? "upstream" : "ours"}${values["quantized-weights"] ? ", quantized weights" : ""}` as Engine;
  const native = await ensureNativeLibrary({ variant: values.upstream ? "pristine" : "edited" });
  const caches = values.caches?.split(",") ?? [
    FLOOR,
    ...values.sides
      .split(",")
      .flatMap((side) => values.types.split(",").flatMap((type) => cacheOf(type, side as Side) ?? [])),
    ...(values.map ? mappedCaches(values.types.split(","), values.sides.split(",") as Side[]) : []),
  ];
  const save = values.save && !values.text;
  const settings = {
    start: Number(values.start),
    length: Number(values.length),
    count: Number(values.chunks),
    threads: Number(values.threads),
  };
  const all: ModelResults[] = [];
  for (const entry of values.models.split(",")) {
    const [name = "", path] = entry.split("=", 2);
    // the repository's own model knows no English but its training's
    const texts = values.text?.split(",") ?? [name === "pico" ? GENERATED : TEXT];
    all.push(
      await measure(name, path ?? name, caches, engine, native, { texts, ...settings }, { ...values, save }),
    );
    if (save) await writeDocument();
  }
  if (values.json) console.log(JSON.stringify({ benchmark: "cache-types", models: all }, null, 2));
  else for (const results of all) console.log(`${renderModel(results)}\n`);
}

async function measure(
  name: string,
  given: string,
  caches: readonly string[],
  engine: Engine,
  native: NativeLibrary,
  settings: { texts: string[]; start: number; length: number; count: number; threads: number },
  {
    save,
    fresh,
    map,
    from,
    where,
  }: { save: boolean; fresh: boolean } & Partial<Record<"map" | "from" | "where", string | undefined>>,
): Promise<ModelResults> {
  const { path } = await resolveModel(given);
  const scratch = await mkdtemp(join(tmpdir(), "eliza-cache-types-"));
  try {
    const chunks = await tokenize(path, join(scratch, "chunks.txt"), settings);
    const old = fresh || !save ? undefined : await readResults(name);
    const same =
      old?.chunks === chunks.hash && old.start === settings.start && old.length === settings.length;
    let results = same ? old : undefined;
    const wanted = caches.filter(
      (cache) =>
        !results?.refused.includes(cache) &&
        (results && findRow(results, engine, cache))?.chunks !== chunks.count,
    );
    if (results && wanted.length === 0 && !from) return results;
    let shape: ModelShape | undefined;
    const maps = map && !from ? await solveBoth(map, path, settings.length) : {};
    await runQuality({
      tool: native.tool("eliza-quality"),
      model: path,
      chunksFile: chunks.file,
      scratch: join(scratch, "logits"),
      ...(engine.endsWith("weights") ? {} : { float32: join(scratch, "float32.gguf") }),
      maps,
      ...(from ? { from: from.split(",") } : {}),
      start: settings.start,
      threads: settings.threads,
      caches: wanted,
      onModel: (model) => {
        shape = model;
      },
      onReference: (reference) => {
        results ??= emptyResults(name, shape!, settings, chunks, reference);
        if (engine === "ours" && !from) results.reference = reference;
      },
      onRefused: (cache) => {
        results!.refused = [...new Set([...results!.refused, cache])];
      },
      onScore: (score) => {
        const computed = computedBytesPerToken(shape!, score.k, score.v);
        const { cpuSeconds, wallSeconds: _, klBlocks: __, lossBlocks: ___, bytes: ____, ...row } = score;
        setRow(results!, {
          ...{ engine, build: native.key, ...row, computedBytesPerToken: computed },
          ...(where ? { where } : {}),
        });
        console.error(
          `${name} ${engine} ${score.cache}: KL ${score.kl.toExponential(3)} ± ${score.klHalfWidth.toExponential(1)}, ` +
            `${score.positions} positions, ${cpuSeconds.toFixed(1)} s of processor time`,
        );
        if (save) saving = saving.then(() => writeResults(results!));
      },
    });
    await saving;
    return results!;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

let saving: Promise<void> = Promise.resolve();

async function solveBoth(file: string, model: string, contextSize: number): Promise<Record<string, string>> {
  const statistics = await openStatistics(file, model);
  return {
    [KEY_MAP]: await solvedMap(statistics, { contextSize }),
    [VALUE_MAP]: await solvedMap(statistics, { contextSize, values: true }),
  };
}

async function tokenize(
  path: string,
  file: string,
  settings: { texts: string[]; start: number; length: number; count: number },
): Promise<Chunks> {
  await using inference = await Inference.open(path, { contextSize: 256, threads: 1 });
  return await writeChunks(inference, file, settings); // before it is closed
}

function emptyResults(
  model: string,
  shape: ModelShape,
  { start, length, count }: { start: number; length: number; count: number },
  chunks: Chunks,
  reference: ReferenceScore,
): ModelResults {
  const title = findKnownModel(model)?.title ?? model;
  return {
    model,
    title,
    shape,
    start,
    length,
    chunkCount: count,
    chunks: chunks.hash,
    reference,
    rows: [],
    refused: [],
  };
}

/** Puts every saved model's table between the document's markers. */
async function writeDocument(): Promise<void> {
  const tables: string[] = [];
  for (const model of ["smollm2-135m", "gemma3-270m", "pico"]) {
    const results = await readResults(model);
    tables.push(results ? renderModel(results) : `### ${model}\n\nNot measured yet.`);
  }
  await writeSection(DOCUMENT, BEGIN, tables.join("\n\n"));
}
