import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ensureNativeLibrary, type NativeLibrary } from "@eliza-inference/build";
import { userFolders } from "@eliza-inference/fetch";
import { type Summary, show, summarise } from "../statistics/summary.ts";

interface Model {
  readonly file: string;
  readonly prompts: readonly number[];
}

const MODELS: Readonly<Record<string, Model>> = {
  "smollm2-135m": { file: "SmolLM2-135M-Instruct.Q4_1.gguf", prompts: [1000, 4000, 7000] },
  "gemma3-270m": { file: "gemma-3-270m-q4_k_m.gguf", prompts: [16000] },
};
const OURS = ["f16", "q8_0", "q4_0", "turbo4", "turbo4_tcq", "turbo3_tcq"];
/** What pristine llama.cpp runs in the same rounds. */
const PEERS = ["f16", "q4_0"];
const GENERATED = 32;

interface Speed {
  readonly prompt: number;
  readonly decode: number;
}

interface Row {
  readonly model: string;
  readonly prompt: number;
  readonly type: string;
  readonly tree: "edited" | "pristine";
  /** Tokens a second of the prompt, and of decoding after it. */
  readonly speed: { readonly prompt: Summary; readonly decode: Summary };
  /** Ours over pristine f16 and q4_0, round by round. */
  readonly ratio: Record<string, { readonly prompt: Summary; readonly decode: Summary }>;
}

function measure(tree: NativeLibrary, model: string, type: string, prompt: number, threads: string): Speed {
  const args = [model, type, type, `${prompt}`, `${GENERATED}`, threads];
  return JSON.parse(execFileSync(tree.tool("eliza-long-context"), args, { encoding: "utf8" })) as Speed;
}

/** Tokens a second at long contexts by cache type, every type and pristine llama.cpp's in turn. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean", default: false },
      rounds: { type: "string", default: "3" },
      threads: { type: "string", default: "2" },
      model: { type: "string", default: "" },
      prompt: { type: "string", default: "" },
      types: { type: "string", default: OURS.join(",") },
    },
  });
  const trees = {
    edited: await ensureNativeLibrary(),
    pristine: await ensureNativeLibrary({ variant: "pristine" }),
  };
  const runs = [
    ...PEERS.map((type) => ({ tree: "pristine" as const, type })),
    ...values.types.split(",").map((type) => ({ tree: "edited" as const, type })),
  ];
  const rows: Row[] = [];
  for (const [model, { file, prompts }] of Object.entries(MODELS)) {
    const path = join(userFolders().models, file);
    if (!model.includes(values.model)) continue;
    if (!existsSync(path)) {
      console.error(`${model} is not on this machine: npm run eliza-inference -- pull ${model}`);
      continue;
    }
    for (const prompt of prompts.filter((count) => !values.prompt || count === Number(values.prompt))) {
      const speeds: Speed[][] = runs.map(() => []);
      for (let round = 0; round < Number(values.rounds); round++) {
        for (const [i, { tree, type }] of runs.entries()) {
          speeds[i]!.push(measure(trees[tree], path, type, prompt, values.threads));
        }
      }
      const found = runs.map(({ tree, type }, i): Row => {
        const of = (key: keyof Speed) => summarise(speeds[i]!.map((speed) => speed[key]));
        const over = (peer: number, key: keyof Speed) =>
          summarise(speeds[i]!.map((speed, round) => speed[key] / speeds[peer]![round]![key]));
        return {
          ...{ model, prompt, type, tree, speed: { prompt: of("prompt"), decode: of("decode") } },
          ratio: Object.fromEntries(
            PEERS.map((peer, at) => [peer, { prompt: over(at, "prompt"), decode: over(at, "decode") }]),
          ),
        };
      });
      rows.push(...found);
      if (values.json) continue;
      console.log(`\n${model}, ${prompt} tokens, ${values.threads} threads`);
      for (const { tree, type, speed, ratio } of found) {
        console.log(
          `${`${tree} ${type}`.padEnd(22)}prompt ${show(speed.prompt).padEnd(24)}decode ${show(speed.decode).padEnd(22)}` +
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
