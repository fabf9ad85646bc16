import { resolve } from "node:path";
import { readGguf } from "../gguf/index.ts";
import { findStatistics, openStatistics } from "./map-files.ts";
import { solvedMap } from "./solved-maps.ts";

/** Cache types that store values as they are: a map would gain them nothing. */
const uncoded = new Set(["f32", "f16", "bf16"]);
const largestDefaultContext = 4096;

export interface MapChoice {
  /** "auto": where one is found; "off": none; else the file that calibrate wrote. */
  kvMap: string;
  cacheTypeK: string;
  cacheTypeV: string;
  /** Tokens; undefined for the engine's default. */
  contextSize: number | undefined;
}

/**
 * The solved map for a model and a context, as a file for the engine's option kv_map; undefined for none.
 *
 * @throws InferenceError MAP_NOT_FOUND, MAP_INVALID, MAP_MISMATCH
 */
export async function chooseMap(modelPath: string, choice: MapChoice): Promise<string | undefined> {
  if (choice.kvMap === "off") return undefined;
  let path: string | undefined;
  if (choice.kvMap === "auto") {
    if (uncoded.has(choice.cacheTypeK) && uncoded.has(choice.cacheTypeV)) return undefined;
    path = await findStatistics(modelPath);
    if (path === undefined) return undefined;
  } else {
    path = resolve(choice.kvMap);
  }
  const statistics = await openStatistics(path, modelPath);
  const contextSize = choice.contextSize ?? (await defaultContext(modelPath));
  return await solvedMap(statistics, { contextSize });
}

/** What the engine takes when no size is given: the model's own context, at most 4096. */
async function defaultContext(modelPath: string): Promise<number> {
  const { metadata } = await readGguf(modelPath);
  const trained = metadata.get(`${String(metadata.get("general.architecture"))}.context_length`);
  return typeof trained === "number" && trained > 0
    ? Math.min(trained, largestDefaultContext)
    : largestDefaultContext;
}
