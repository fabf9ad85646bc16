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

/** Types of keys that exist only behind a learned map, with the type of values beside each. */
export const MIXED = [
  ["turbo4_mix", "turbo4_tcq"],
  ["turbo3_mix", "turbo3_tcq"],
  ["turbo2_mix", "turbo2_tcq"],
] as const;

/** Of keys, and of keys and values: the maps' names behind a cache's +. */
export const KEY_MAP = "map";
export const VALUE_MAP = "map-values";

/**
 * The caches of these types on these sides, seen through a learned map; those that need one among them. Keys have the map
 * of keys, also where both sides are coded, as the engine opens it; values alone have one of their own.
 */
export function mappedCaches(types: readonly string[], sides: readonly Side[]): string[] {
  const uniform = sides.flatMap((side) =>
    types.flatMap((type) => {
      const cache = KEYS_ONLY.has(type) ? undefined : cacheOf(type, side);
      return cache ? `${cache}+${side === "v" ? VALUE_MAP : KEY_MAP}` : [];
    }),
  );
  const mixed = MIXED.flatMap(([k, v]) =>
    sides.flatMap((side) =>
      side === "both" ? `${k}/${v}+${KEY_MAP}` : side === "k" ? `${k}/f16+${KEY_MAP}` : [],
    ),
  );
  return [...uniform, ...mixed];
}

/**
 * The f16 cache again, 32 tokens at a time: fewer than llama.cpp's tiled attention takes, so each query goes row by
 * row, as it does when a reply is generated. Nothing is stored in another way, so what this shows is rounding, and
 * no type can be told from f16 below it.
 */
export const FLOOR = "f16/f16@32";
