import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ensureNativeLibrary } from "@eliza-inference/build";
import { findKnownModel, Inference, openStatistics, resolveModel, solvedMap } from "eliza-inference";
import { FLOOR } from "../cache-types/caches.ts";
import { type ReferenceScore, runQuality } from "../cache-types/quality-tool.ts";
import { plotRun } from "./plot.ts";
import { renderRun } from "./report.ts";
import { type Run, readRuns, writeRun } from "./results.ts";

const USAGE = `usage: npm run bench -- learned-maps --model NAME[=PATH] --map FILE --text FILE [options]
  --lengths N,…     contexts (4096,8000); the last 2,048 positions of each piece are scored
  --pieces N        pieces of the text (1)
  --caches K/V,…    behind the map and plain where they can be
  --unspread        the map as calibrated
  --map-values      values through a map too
  --called TEXT     what the text is
  --quantized-weights   the weights as the file has them; otherwise the same weights held in float32
  --threads N       (the processor's cores)
  --save            keep the results, write the tables into docs/learned-maps.md and draw the plots
  --draw            only that, from what is kept`;

const SCORED = 2048;
const CACHES = ["q4_0/q4_0", "iq4_nl/iq4_nl", "q8_0/q8_0", "turbo4_mix/turbo4_tcq", "turbo3_mix/turbo3_tcq"];
const docs = fileURLToPath(new URL("../../docs/", import.meta.url));

/** What a learned map is worth: every cache plain and mapped, at several contexts. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      model: { type: "string", default: "smollm2-135m" },
      map: { type: "string" },
      text: { type: "string" },
      called: { type: "string" },
      lengths: { type: "string", default: "4096,8000" },
      pieces: { type: "string", default: "1" },
      caches: { type: "string", default: CACHES.join(",") },
      unspread: { type: "boolean", default: false },
      "map-values": { type: "boolean", default: false },
      "quantized-weights": { type: "boolean", default: false },
      threads: { type: "string", default: String(availableParallelism()) },
      save: { type: "boolean", default: false },
      draw: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.draw) return draw();
  if (values.help || !values.map || !values.text) return console.log(USAGE);
  const [name = "", given] = values.model.split("=", 2);
  const { path } = await resolveModel(given ?? name);
  const native = await ensureNativeLibrary();
  const statistics = await openStatistics(values.map, path);
  const scratch = await mkdtemp(join(tmpdir(), "eliza-learned-maps-"));
  try {
    for (const length of values.lengths.split(",").map(Number)) {
      const chunksFile = join(scratch, "chunks.txt");
      const tokens = await writePieces(path, values.text, chunksFile, length, Number(values.pieces));
      const caches = [
        FLOOR,
        ...values.caches
          .split(",")
          .flatMap((cache) => (cache.includes("_mix") ? `${cache}+map` : [cache, `${cache}+map`])),
      ];
      let reference: ReferenceScore | undefined;
      const rows = new Map<string, Run["rows"][number]>();
      await runQuality({
        tool: native.tool("eliza-quality"),
        model: path,
        chunksFile,
        scratch: join(scratch, "logits"),
        ...(values["quantized-weights"] ? {} : { float32: join(scratch, "float32.gguf") }),
        map: await solvedMap(statistics, {
          contextSize: length,
          unspread: values.unspread,
          values: values["map-values"],
        }),
        start: length - SCORED,
        threads: Number(values.threads),
        caches,
        onReference: (score) => {
          reference = score;
        },
        onScore: (score) => {
          rows.set(score.cache, score);
          console.error(
            `${name} ${length} ${score.cache}: ${score.kl.toExponential(3)} ± ${score.klHalfWidth.toExponential(1)}`,
          );
        },
      });
      const result: Run = {
        model: name,
        title: findKnownModel(name)?.title ?? name,
        text: values.called ?? basename(values.text),
        tokens,
        length,
        start: length - SCORED,
        weights: values["quantized-weights"] ? "as in the file" : "float32",
        calibration: {
          tokens: statistics.tokens,
          window: statistics.window,
          text: "the package's text",
          spread: !values.unspread,
          values: values["map-values"],
        },
        reference: reference!,
        rows: [...rows.values()],
      };
      console.log(`${renderRun(result)}\n`);
      if (values.save) await writeRun(result);
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  if (values.save) await draw();
}

async function writePieces(
  model: string,
  text: string,
  file: string,
  length: number,
  pieces: number,
): Promise<string> {
  await using inference = await Inference.open(model, { contextSize: 256, threads: 1, kvMap: "off" });
  const ids = Array.from(await inference.tokenize(await readFile(text, "utf8")));
  const { addBos } = inference.report().model;
  const begin = addBos ? Array.from(await inference.tokenize("", { addSpecial: true })) : [];
  const each = length + 1 - begin.length;
  if (ids.length < each * pieces)
    throw new Error(`${text} has ${ids.length} tokens, ${each * pieces} are needed`);
  const lines = Array.from({ length: pieces }, (_, at) =>
    [...begin, ...ids.slice(at * each, (at + 1) * each)].join(" "),
  );
  await writeFile(file, `${lines.join("\n")}\n`);
  return createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 16);
}

const BEGIN = "<!-- results: written by npm run bench -- learned-maps --draw -->";
const END = "<!-- end of results -->";

/** Every kept run's table into the document, and a plot of each spread run. */
async function draw(): Promise<void> {
  const runs = await readRuns();
  const parts: string[] = [];
  for (const each of runs) {
    parts.push(renderRun(each));
    if (!each.calibration.spread || each.calibration.values || each.rows.length < 4) continue;
    const name = `learned-maps-${each.model}-${each.length}.svg`;
    await writeFile(`${docs}${name}`, plotRun(each));
    parts.push(`![${each.title}: divergence against bytes](${name})`);
  }
  const document = `${docs}learned-maps.md`;
  const text = await readFile(document, "utf8");
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${document} lacks the line ${BEGIN} or ${END}`);
  await writeFile(
    document,
    `${text.slice(0, from + BEGIN.length)}\n\n${parts.join("\n\n")}\n\n${text.slice(to)}`,
  );
}
