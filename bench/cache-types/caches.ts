export type Side = "k" | "v" | "both";

/** llama.cpp's own cache types, rotated as it ships them, and ours; the order in which they are measured. */
export const TYPES = [
  "q8_0",
  "q4_0",
  "turbo4",
  "turbo4_tcq",
  "turbo3_tcq",
  "iq4_nl",
  "q5_1",
  "turbo3",
  "tbq3",
  "turbo2_tcq",
  "q4_polar",
  "qjl1_256",
] as const;

const KEYS_ONLY = new Set(["qjl1_256", "qjl1_256_iid"]);

/** The cache with that type on that side and f16 on the other; undefined where the type is for keys only. */
export function cacheOf(type: string, side: Side): string | undefined {
  if (KEYS_ONLY.has(type)) return side === "k" ? `${type}/f16` : undefined;
  return side === "both" ? `${type}/${type}` : side === "k" ? `${type}/f16` : `f16/${type}`;
}

/**
 * Caches that lose nothing, so that what they show is not a format's error: stored in float32 rather than float16, and
 * float16 computed in other batches.
 */
export const FLOORS = ["f32/f32", "f16/f16@256"] as const;
