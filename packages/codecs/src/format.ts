import { CodecError } from "./codec-error.ts";
import { tileWidths } from "./head-layout.ts";
import { composeFormat, type KvFormat } from "./kv-format.ts";
import { q4Polar } from "./q4-polar.ts";
import { tbq3 } from "./tbq3.ts";
import type { TileCodec } from "./tile-codec.ts";
import { turbo3 } from "./turbo3.ts";
import { turbo4 } from "./turbo4.ts";

/** The public names of the formats. */
export const FORMAT_NAMES = ["turbo4", "tbq3", "turbo3", "q4_polar"] as const;
export type FormatName = (typeof FORMAT_NAMES)[number];

/** Choices that some formats have. */
export interface FormatOptions {
  /** q4_polar: decode (and encode) the 1-bit residual. Defaults to false, which has the smaller error. */
  readonly residual?: boolean;
}

interface Family {
  readonly widths: readonly number[];
  codec(width: number, options: FormatOptions): TileCodec;
}

const families: Record<FormatName, Family> = {
  turbo4: { widths: [32], codec: () => turbo4 },
  tbq3: { widths: [32], codec: () => tbq3 },
  turbo3: { widths: [128, 64], codec: (width) => turbo3(width as 64 | 128) },
  q4_polar: { widths: [128], codec: (_, options) => q4Polar(options.residual ?? false) },
};

/** The tile widths of a head, 32s where several 32-tiles make it up; empty if the format does not fit. */
function widthsOf(name: FormatName, headDim: number): number[] {
  if (!Number.isInteger(headDim)) return [];
  return tileWidths(headDim, families[name].widths);
}

/** The formats that a head of `headDim` values can be stored in. */
export function formatsFor(headDim: number): FormatName[] {
  return FORMAT_NAMES.filter((name) => widthsOf(name, headDim).length > 0);
}

/** Whether a string is a format's name. */
export function isFormatName(name: string): name is FormatName {
  return (FORMAT_NAMES as readonly string[]).includes(name);
}

/**
 * A format by name for a head size.
 * Throws CodecError FORMAT_UNKNOWN, HEAD_DIM_UNSUPPORTED (the hint lists what fits), OPTION_INVALID.
 */
export function format(name: string, headDim: number, options: FormatOptions = {}): KvFormat {
  if (!isFormatName(name)) {
    throw new CodecError(
      "FORMAT_UNKNOWN",
      `No KV format is named '${name}'`,
      `Known: ${FORMAT_NAMES.join(", ")}.`,
    );
  }
  const widths = widthsOf(name, headDim);
  if (widths.length === 0) {
    const fitting = formatsFor(headDim);
    throw new CodecError(
      "HEAD_DIM_UNSUPPORTED",
      `${name} cannot hold heads of ${headDim} values: its tiles are ${families[name].widths.join(" or ")} wide`,
      fitting.length > 0 ? `These fit: ${fitting.join(", ")}.` : "Head sizes must be multiples of 32.",
    );
  }
  return composeFormat(
    name,
    headDim,
    widths.map((width) => families[name].codec(width, options)),
    false,
  );
}
