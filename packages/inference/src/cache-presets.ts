import type { GgufFile } from "./gguf/index.ts";

/** Names for a choice of cache types, so that nobody has to know these. */
export const cachePresets = ["f16", "balanced", "small", "smallest"] as const;
export type CachePreset = (typeof cachePresets)[number];

export interface PresetChoice {
  name: CachePreset;
  cacheTypeK: string;
  cacheTypeV: string;
  /** what was chosen, and why */
  why: string;
}

/** The types of a preset; the first of a pair are keys'. */
export interface PresetTypes {
  /** behind a learned map, which the mixed types need */
  mapped: readonly [k: string, v: string];
  plain: readonly [k: string, v: string];
  /** for heads that are a multiple of 32 alone */
  narrow: string;
  bits: string;
}

/**
 * What each preset is. `balanced` diverges least of all measured pairs that fit into 30 % of f16's bytes with the rows of
 * the window counted (docs/exact-window.md); keys want more bits than values.
 */
export const presetTypes: Readonly<Record<Exclude<CachePreset, "f16">, PresetTypes>> = {
  balanced: {
    mapped: ["turbo4_mix", "turbo3_tcq"],
    plain: ["turbo4_tcq", "turbo3_tcq"],
    narrow: "turbo4",
    bits: "keys in about 4 bits a value, values in 3",
  },
  small: {
    mapped: ["turbo3_mix", "turbo3_tcq"],
    plain: ["turbo3_tcq", "turbo3_tcq"],
    narrow: "tbq3",
    bits: "about 3 bits a value",
  },
  smallest: {
    mapped: ["turbo2_mix", "turbo2_tcq"],
    plain: ["turbo2_tcq", "turbo2_tcq"],
    narrow: "tbq3",
    bits: "about 2 bits a value",
  },
};

/**
 * The cache types of a preset for a model's head sizes.
 *
 * @param model undefined for a model of another kind than GGUF
 * @param hasMap whether a learned map of the cache is used
 */
export function choosePreset(name: CachePreset, model: GgufFile | undefined, hasMap: boolean): PresetChoice {
  const uncoded = { name, cacheTypeK: "f16", cacheTypeV: "f16" };
  if (name === "f16") return { ...uncoded, why: "nothing is coded" };
  if (model === undefined)
    return { ...uncoded, why: "the types of a cache are chosen for GGUF models alone" };
  const sizes = headSizes(model);
  const heads = `heads of ${[...new Set(sizes)].join(" and ") || "unknown size"}`;
  const { mapped, plain, narrow, bits } = presetTypes[name];
  const every = (multiple: number) => sizes.length > 0 && sizes.every((size) => size % multiple === 0);
  if (!every(32)) return { ...uncoded, why: `no coded type fits ${heads}: multiples of 32 are needed` };
  if (!every(64)) {
    return { name, cacheTypeK: narrow, cacheTypeV: narrow, why: `${narrow}, which fits ${heads}` };
  }
  const [cacheTypeK, cacheTypeV] = hasMap ? mapped : plain;
  const through = hasMap ? "keys through this model's learned map" : "without a learned map";
  return { name, cacheTypeK, cacheTypeV, why: `${bits}, ${through}, ${heads}` };
}

/** Of K and V, in full and in sliding-window layers, as the model's file states them; empty if it does not. */
function headSizes({ metadata }: GgufFile): number[] {
  const architecture = String(metadata.get("general.architecture"));
  const number = (key: string) => {
    const value = metadata.get(`${architecture}.${key}`);
    return typeof value === "number" && value > 0 ? value : undefined;
  };
  const [width, heads] = [number("embedding_length"), number("attention.head_count")];
  const even = width !== undefined && heads !== undefined ? width / heads : undefined;
  return [
    number("attention.key_length") ?? even,
    number("attention.value_length") ?? even,
    number("attention.key_length_swa"),
    number("attention.value_length_swa"),
  ].filter((size) => size !== undefined);
}
