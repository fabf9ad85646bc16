import { access, readdir } from "node:fs/promises";
import { join } from "node:path";
import { userFolders } from "@eliza-inference/fetch";
import { mapMismatch } from "./map-errors.ts";
import { Statistics } from "./statistics.ts";
import { weightsHash } from "./weights-hash.ts";

const suffix = ".kvmap";

/** The place beside a model. It holds GGUF, and does not end in .gguf, so that a bundle keeps having one model. */
export function mapBeside(modelPath: string): string {
  return `${modelPath.replace(/\.gguf$/i, "")}${suffix}`;
}

/** The place in the user's folder. */
export function mapOfUser(weightsSha256: string): string {
  return join(userFolders().data, "maps", `${weightsSha256}${suffix}`);
}

/** What `calibrate` wrote for this model, beside it or in the user's folder; undefined if it never did. */
export async function findStatistics(modelPath: string): Promise<string | undefined> {
  const beside = mapBeside(modelPath);
  if (await exists(beside)) return beside;
  // Hashing a large model takes seconds: not for a user who has no maps at all.
  const kept = await readdir(join(userFolders().data, "maps")).catch((): string[] => []);
  if (!kept.some((name) => name.endsWith(suffix))) return undefined;
  const place = mapOfUser(await weightsHash(modelPath));
  return (await exists(place)) ? place : undefined;
}

/**
 * Reads what `calibrate` wrote, and refuses it for other weights.
 *
 * @throws InferenceError MAP_NOT_FOUND, MAP_INVALID, MAP_MISMATCH
 */
export async function openStatistics(path: string, modelPath: string): Promise<Statistics> {
  const statistics = await Statistics.open(path);
  const found = await weightsHash(modelPath);
  if (statistics.modelSha256 !== found) {
    const short = (hash: string) => hash.slice(0, 12);
    throw mapMismatch(
      path,
      `it was calibrated on weights ${short(statistics.modelSha256)} (${statistics.modelName || "unnamed"}), ` +
        `these are ${short(found)}`,
    );
  }
  return statistics;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
