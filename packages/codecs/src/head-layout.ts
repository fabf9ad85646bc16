import type { TileCodec, TileKind } from "./tile-codec.ts";

/** A tile's place in an encoded head. */
export interface Tile {
  readonly kind: TileKind;
  /** Bits a symbol for the trellis kinds, 0 otherwise. */
  readonly rate: number;
  /** First dimension of the head that it holds, and how many. */
  readonly dim: number;
  readonly width: number;
  /** First byte in the encoded head, and how many. */
  readonly byte: number;
  readonly bytes: number;
  /** First value in the coded basis, and how many (256 a tile for qjl1_256, else as `dim` and `width`). */
  readonly rotatedDim: number;
  readonly rotatedWidth: number;
}

/** The largest tile widths first that cover `count` values: 128s, else 64s, else 32s; empty if none fits. */
export function tileWidths(count: number, allowed: readonly number[]): number[] {
  const width = [128, 64, 32].find((w) => allowed.includes(w) && count % w === 0);
  if (!width || count <= 0) return [];
  return Array.from({ length: count / width }, () => width);
}

/** Places tiles one after the other. */
export function placeTiles(codecs: readonly TileCodec[]): Tile[] {
  let dim = 0;
  let byte = 0;
  let rotatedDim = 0;
  return codecs.map(({ kind, rate, width, bytes, rotatedWidth }) => {
    const tile = { kind, rate, dim, width, byte, bytes, rotatedDim, rotatedWidth };
    dim += width;
    byte += bytes;
    rotatedDim += rotatedWidth;
    return tile;
  });
}
