import { resolve } from "node:path";
import { InferenceError } from "../errors.ts";
import { readGguf } from "../gguf/index.ts";
import { findStatistics, openStatistics } from "./map-files.ts";
import { solvedMap } from "./solved-maps.ts";

/** Cache types that store values as they are: a map would gain them nothing. */
const uncoded = new Set(["f32", "f16", "bf16"]);

export function isCoded(cacheType: string): boolean {
  return !uncoded.has(cacheType);
}

/** What makes the map that a model lacks. */
export function calibrateHint(model: string): string {
  return `a learned map would make this cache lose less: eliza-inference calibrate ${model}`;
}

/** What is said while `kvMap: "make"` makes it. */
export const makingHint = "a learned map is being made: this model uses it when it is opened again";

/** What a cache without a window is told of a map that was made for one: what the window would read exactly is not in it. */
export function windowHint(model: string): string {
  return (
    "this learned map was made for a cache with an exact window, and gains little without one: " +
    `eliza-inference calibrate ${model} --exact-tokens 0 --exact-sinks 0`
  );
}

export interface MapChoice {
  /** "auto": where one is found; "off": none; else the file that calibrate wrote. */
  kvMap: string;
  cacheTypeK: string;
  cacheTypeV: string;
  /** Tokens; undefined for what the engine takes by default. */
  contextSize: number | undefined;
  /** That default, for a model trained on so many tokens; 0: not known. */
  defaultContextSize: (trained: number) => number;
}

/**
 * The solved map for a model and a context, as a file for the engine's option kv_map; undefined for none.
 *
 * @param modelPath a GGUF file; undefined for a model of another kind, which can have no map
 * @throws InferenceError MAP_NOT_FOUND, MAP_INVALID, MAP_MISMATCH, MAP_UNSUPPORTED
 */
export async function chooseMap(
  modelPath: string | undefined,
  choice: MapChoice,
): Promise<string | undefined> {
  if (choice.kvMap === "off" || (choice.kvMap === "auto" && modelPath === undefined)) return undefined;
  if (modelPath === undefined) {
    throw new InferenceError("MAP_UNSUPPORTED", "learned maps are of GGUF models", "Leave kvMap out.");
  }
  let path: string | undefined;
  if (choice.kvMap === "auto") {
    if (!isCoded(choice.cacheTypeK) && !isCoded(choice.cacheTypeV)) return undefined;
    path = await findStatistics(modelPath);
    if (path === undefined) return undefined;
  } else {
    path = resolve(choice.kvMap);
  }
  const statistics = await openStatistics(path, modelPath);
  const contextSize = choice.contextSize ?? choice.defaultContextSize(await trainedContext(modelPath));
  return await solvedMap(statistics, { contextSize });
}

/** Tokens that the model was trained on; 0 if its file does not say. */
async function trainedContext(modelPath: string): Promise<number> {
  const { metadata } = await readGguf(modelPath);
  const trained = metadata.get(`${String(metadata.get("general.architecture"))}.context_length`);
  return typeof trained === "number" ? trained : 0;
}
