import { InferenceError } from "../errors.ts";
import type { CacheTypeInfo } from "../native/native-library.ts";
import { checkBundle } from "./check-bundle.ts";
import { readManifest } from "./manifest.ts";

/**
 * Refuses a bundle whose bundle.json does not fit what lies beside it, by names and sizes; hashes are for
 * `eliza-inference bundle check`. A bundle without one is taken as it is.
 *
 * @throws InferenceError MODEL_INVALID
 */
export async function requireWholeBundle(
  bundle: string,
  cacheTypes: readonly CacheTypeInfo[],
): Promise<void> {
  if (!(await readManifest(bundle))) return;
  const knownCacheTypes = cacheTypes.map(({ name }) => name);
  const { problems } = await checkBundle(bundle, { hashes: false, knownCacheTypes });
  if (problems.length === 0) return;
  throw new InferenceError(
    "MODEL_INVALID",
    `${bundle}: ${problems.join("; ")}`,
    "Fetch the bundle again, or remake its bundle.json: eliza-inference bundle create",
  );
}
