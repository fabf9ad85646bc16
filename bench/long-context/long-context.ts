import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ensureNativeLibrary, type NativeLibrary } from "@eliza-inference/build";
import { userFolders } from "@eliza-inference/fetch";
import { openStatistics, solvedMap } from "eliza-inference";
import { type Summary, show, summarise } from "../statistics/summary.ts";

interface Model {
  readonly file: string;
  readonly prompts: readonly number[];
}

const MODELS: Readonly<Record<string, Model>> = {
  "smollm2-135m": { file: "SmolLM2-135M-Instruct.Q4_1.gguf", prompts: [1000, 4000, 7000] },
  "gemma3-270m": { file: "gemma-3-270m-q4_k_m.gguf", prompts: [16000] },
};
const WINDOW = "~128,4";
/** As eliza-long-context names them: with the exact window where anything is coded, the mixed types through a map. */
const OURS = [
  "f16/f16",
  ...["q8_0", "q4_0", "turbo4", "turbo4_tcq", "turbo3_tcq"].map((type) => `${type}/${type}${WINDOW}`),
  ...["turbo4_mix/turbo4_tcq", "turbo3_mix/turbo3_tcq", "turbo2_mix/turbo2_tcq"].map(
    (types) => `${types}${WINDOW}+map`,
  ),
];
/** What pristine llama.cpp runs in the same rounds. */
const PEERS = ["f16/f16", "q4_0/q4_0"];
const GENERATED = 64;

interface Speed {
  readonly prompt: number;
  readonly decode: number;
}

interface Setting {
  readonly path: string;
  readonly prompt: number;
  readonly threads: string;
  /** a solved map's file, for the caches that go through it */
  readonly map: string | undefined;
}

interface Row {
  readonly model: string;
  readonly prompt: number;
  readonly cache: string;
  readonly tree: "edited" | "pristine";
  /** Tokens a second of the prompt, and of decoding after it. */
  readonly speed: { readonly prompt: Summary; readonly decode: Summary };
  /** Ours over pristine f16 and q4_0, round by round. */
  readonly ratio: Record<string, { readonly prompt: Summary; readonly decode: Summary }>;
}

function measure(tree: NativeLibrary, cache: string, { path, prompt, threads, map }: Setting): Speed {
  const args = [path, cache, `${prompt}`, `${GENERATED}`, threads, ...(map ? [`map=${map}`] : [])];
  return JSON.parse(execFileSync(tree.tool("eliza-long-context"), args, { encoding: "utf8" })) as Speed;
}

/**
 * Tokens a second at long contexts by cache type, every type and pristine llama.cpp's in turn. The mixed types need what
 * `calibrate MODEL --out FILE` wrote, as --maps MODEL=FILE,…
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean", default: false },
      rounds: { type: "string", default: "3" },
      threads: { type: "string", default: "2" },
      model: { type: "string", default: "" },
      prompt: { type: "string", default: "" },
      caches: { type: "string", default: OURS.join(" ") },
      maps: { type: "string", default: "" },
    },
  });
  const trees = {
    edited: await ensureNativeLibrary(),
    pristine: await ensureNativeLibrary({ variant: "pristine" }),
  };
  const maps = new Map(
    values.maps.split(",").map((entry) => entry.split("=", 2) as [model: string, file: string]),
  );
  const rows: Row[] = [];
  for (const [model, { file, prompts }] of Object.entries(MODELS)) {
    const path = join(userFolders().models, file);
    if (!model.includes(values.model)) continue;
    if (!existsSync(path)) {
      console.error(`${model} is not on this machine: npm run eliza-inference -- pull ${model}`);
      continue;
    }
    const statistics = maps.get(model);
    if (!statistics) console.error(`${model} without --maps ${model}=FILE: no mixed types`);
    const runs = [
      ...PEERS.map((cache) => ({ tree: "pristine" as const, cache })),
      ...values.caches
        .split(" ")
        .filter((cache) => statistics || !cache.endsWith("+map"))
        .map((cache) => ({ tree: "edited" as const, cache })),
    ];
    for (const prompt of prompts.filter((count) => !values.prompt || count === Number(values.prompt))) {
      const solved =
        statistics &&
        (await solvedMap(await openStatistics(statistics, path), { contextSize: prompt + GENERATED }));
      const speeds: Speed[][] = runs.map(() => []);
      for (let round = 0; round < Number(values.rounds); round++) {
        for (const [i, { tree, cache }] of runs.entries()) {
          const map = cache.endsWith("+map") ? solved : undefined;
          speeds[i]!.push(measure(trees[tree], cache, { path, prompt, threads: values.threads, map }));
        }
      }
      const found = runs.map(({ tree, cache }, i): Row => {
        const of = (key: keyof Speed) => summarise(speeds[i]!.map((speed) => speed[key]));
        const over = (peer: number, key: keyof Speed) =>
          summarise(speeds[i]!.map((speed, round) => speed[key] / speeds[peer]![round]![key]));
        return {
          ...{ model, prompt, cache, tree, speed: { prompt: of("prompt"), decode: of("decode") } },
          ratio: Object.fromEntries(
            PEERS.map((peer, at) => [peer, { prompt: over(at, "prompt"), decode: over(at, "decode") }]),
          ),
        };
      });
      rows.push(...found);
      if (values.json) continue;
      console.log(`\n${model}, ${prompt} tokens, ${values.threads} threads`);
      for (const { tree, cache, speed, ratio } of found) {
        console.log(
          `${`${tree} ${cache}`.padEnd(44)}prompt ${show(speed.prompt).padEnd(24)}decode ${show(speed.decode).padEnd(22)}` +
            PEERS.map(
              (peer) =>
                `of pristine ${peer}: prompt ${ratio[peer]!.prompt.median.toFixed(2)} decode ${ratio[peer]!.decode.median.toFixed(2)}  `,
            ).join(""),
        );
      }
    }
  }
  if (values.json) console.log(JSON.stringify({ benchmark: "long-context", rows }, null, 2));
}
