/**
 * Which encoder writes the bytes. `default` is the best one known; `reference` is the documented one, kept
 * for the golden fixtures. Both write the same layout and are read by the same decoder.
 */
export type Encoder = "default" | "reference";

/** The kinds of tile a head is made of. */
export type TileKind =
  | "turbo4"
  | "tbq3"
  | "turbo3"
  | "trellis"
  | "trellis_prefixed"
  | "qjl1_256"
  | "q4_polar";

/**
 * Codes a run of `width` values to `bytes` bytes. Arrays are exactly that long; the caller owns them.
 * "Coded basis" is the one the centroids live in: dot(prepareQuery(q), decodeRotated(b)) = q · decode(b).
 */
export interface TileCodec {
  readonly kind: TileKind;
  /** Bits a symbol, for the trellis kinds; 0 otherwise. */
  readonly rate: number;
  /** Values of a tile. */
  readonly width: number;
  /** Bytes of a tile. */
  readonly bytes: number;
  /** Values and bytes of the smallest storage block, which may be a part of a tile (turbo3). */
  readonly blockWidth: number;
  readonly blockBytes: number;
  /** Length of a tile in the coded basis: `width`, but 256 for qjl1_256. */
  readonly rotatedWidth: number;
  /** Everything that decides what bytes decode to; hashed into the format's identity. */
  readonly identity: readonly (string | Uint8Array)[];
  /** Encodes `x`; false if the tile was marked as not finite (NaN scale). `x` is left as it was. */
  encode(x: Float32Array, out: Uint8Array, encoder: Encoder): boolean;
  /** Decodes to the coded basis, `rotatedWidth` values. */
  decodeRotated(bytes: Uint8Array, out: Float32Array): void;
  /** Brings a query's tile to the coded basis, `rotatedWidth` values. */
  prepareQuery(q: Float32Array, out: Float32Array): void;
  /** Turns a coded-basis vector (a decoded tile, or a weighted sum of such) back: `width` values. */
  unrotate(rotated: Float32Array, out: Float32Array): void;
}

/** The bytes of a float32 table, little-endian on every platform this package meets. */
export function tableBytes(table: Float32Array): Uint8Array {
  return new Uint8Array(table.buffer, table.byteOffset, table.byteLength);
}
