import { tileWidths } from "./head-layout.ts";
import { q4Polar } from "./q4-polar.ts";
import { qjl1x256 } from "./qjl.ts";
import { type QjlProjection, qjlProjection } from "./qjl-projection.ts";
import { tbq3 } from "./tbq3.ts";
import type { TileCodec } from "./tile-codec.ts";
import { prefixedTrellis, trellis } from "./trellis.ts";
import type { TrellisRate } from "./trellis-codebook.ts";
import { codebookOf } from "./trellis-codebooks.ts";
import { turbo3 } from "./turbo3.ts";
import { turbo4 } from "./turbo4.ts";

/** Choices that some formats have. Each is part of the identity of the format. */
export interface FormatOptions {
  /** q4_polar: code and decode the 1-bit residual. Defaults to false, which has the smaller error. */
  readonly residual?: boolean;
  /** qjl1_256: the projection. Defaults to "orthogonal"; "iid" is that of the golden fixtures. */
  readonly projection?: QjlProjection;
  /** trellis: bits a symbol, 1 to 6. Defaults to 4. */
  readonly rate?: TrellisRate;
  /** trellis: tile width. Defaults to the widest that divides the head. */
  readonly tile?: 32 | 64 | 128;
}

type OptionChoices = { readonly [Key in keyof FormatOptions]: readonly FormatOptions[Key][] };

/** How a named format builds the tiles of a head. */
export interface Family {
  /** What head sizes it takes, in words. */
  readonly needs: string;
  readonly options?: OptionChoices;
  readonly mixed?: boolean;
  /** The tiles of a head in order; none if the head size does not fit. */
  codecs(headDim: number, options: FormatOptions): TileCodec[];
}

type Width = 32 | 64 | 128;

function tiled(
  needs: string,
  widths: readonly Width[],
  codec: (width: Width, options: FormatOptions) => TileCodec,
): Family {
  return {
    needs,
    codecs: (headDim, options) => {
      const run = tileWidths(headDim, widths);
      if (run.length === 0) return [];
      const one = codec(run[0] as Width, options);
      return run.map(() => one);
    },
  };
}

/** Equal runs of the head, each in the widest tiles that fit it, at rates of falling importance. */
function mixed(quarters: readonly TrellisRate[], halves: readonly TrellisRate[]): Family {
  return {
    needs: "64, or a multiple of 128",
    mixed: true,
    codecs: (headDim) => {
      if (headDim !== 64 && headDim % 128 !== 0) return [];
      const rates = headDim === 64 ? halves : quarters;
      return rates.flatMap((rate) =>
        tileWidths(headDim / rates.length, [128, 64, 32]).map((width) =>
          trellis(codebookOf(rate), width as Width),
        ),
      );
    },
  };
}

/** The formats by name. */
export const families = {
  turbo4: tiled("a multiple of 32", [32], () => turbo4),
  tbq3: tiled("a multiple of 32", [32], () => tbq3),
  turbo3: tiled("a multiple of 64", [128, 64], (width) => turbo3(width as 64 | 128)),
  turbo3_tcq: tiled("a multiple of 64", [128, 64], (width) =>
    width === 128 ? prefixedTrellis(codebookOf(3)) : trellis(codebookOf(3), width),
  ),
  turbo4_tcq: tiled("a multiple of 64", [128, 64], (width) => trellis(codebookOf(4), width)),
  turbo2_tcq: tiled("a multiple of 64", [128, 64], (width) => trellis(codebookOf(2), width)),
  turbo4_mix: mixed([6, 4, 3, 3], [5, 3]),
  turbo3_mix: mixed([5, 3, 2, 2], [4, 2]),
  turbo2_mix: mixed([4, 2, 1, 1], [3, 1]),
  qjl1_256: {
    ...tiled("a multiple of 128", [128], (_, { projection = "orthogonal" }) =>
      qjl1x256(qjlProjection(projection)),
    ),
    options: { projection: ["orthogonal", "iid"] },
  },
  q4_polar: {
    ...tiled("a multiple of 128", [128], (_, { residual = false }) => q4Polar(residual)),
    options: { residual: [false, true] },
  },
  trellis: {
    needs: "a multiple of its tile (32, 64 or 128)",
    options: { rate: [1, 2, 3, 4, 5, 6], tile: [32, 64, 128] },
    codecs: (headDim: number, { rate = 4, tile }: FormatOptions) => {
      const run = tileWidths(headDim, tile ? [tile] : [128, 64, 32]);
      return run.map((width) => trellis(codebookOf(rate), width as Width));
    },
  },
} satisfies Record<string, Family>;

export type FormatName = keyof typeof families;

/** Whether a string is a format's name. */
export function isFormatName(name: string): name is FormatName {
  return Object.hasOwn(families, name);
}

/** The options a format takes and their values. */
export function optionsOf(name: FormatName): OptionChoices {
  const family: Family = families[name];
  return family.options ?? {};
}
