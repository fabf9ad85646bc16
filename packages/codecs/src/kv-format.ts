import { CodecError } from "./codec-error.ts";
import { placeTiles, type Tile } from "./head-layout.ts";
import { sha256 } from "./sha256.ts";
import type { Encoder, TileCodec } from "./tile-codec.ts";

/** How `encode` treats a row. */
export interface EncodeOptions {
  /** Which encoder; defaults to `"default"`. */
  readonly encoder?: Encoder;
  /**
   * What to do with a tile that holds NaN or Inf or overflows: `"throw"` (default), or `"mark"`: write a
   * NaN scale and zero codes, as the engine does, so that the fault shows in whatever reads the tile.
   */
  readonly nonFinite?: "throw" | "mark";
}

/** One KV format for one head size. Rows are one head of one token: `headDim` float32 values. */
export interface KvFormat {
  readonly name: string;
  readonly headDim: number;
  /** Values that are rotated together (the widest tile). */
  readonly tile: number;
  /** Values and bytes of the smallest storage block; a mixed row is one block. */
  readonly blockWidth: number;
  readonly blockBytes: number;
  readonly bitsPerValue: number;
  /** Bytes of an encoded row. */
  readonly rowBytes: number;
  /** Length of a row in the coded basis: headDim, twice that for qjl1_256. */
  readonly rotatedDim: number;
  /** sha256 of everything that decides what bytes decode to. */
  readonly hash: string;
  /** The tiles of a row, in order. */
  readonly tiles: readonly Tile[];
  /**
   * Encodes a row of `headDim` values to `rowBytes` bytes.
   * Throws CodecError ROW_LENGTH, ROW_NOT_FINITE (NaN or Inf), ROW_OVERFLOW (a tile's sum of squares leaves
   * float32: magnitudes above about 1e18).
   */
  encode(row: Float32Array, options?: EncodeOptions): Uint8Array;
  /** Decodes `rowBytes` bytes, any bytes at all, to the original basis. Throws CodecError BYTES_LENGTH. */
  decode(bytes: Uint8Array): Float32Array;
  /** Decodes to the coded basis, `rotatedDim` values. Throws CodecError BYTES_LENGTH. */
  decodeRotated(bytes: Uint8Array): Float32Array;
  /** Brings a query of `headDim` values to the coded basis: `rotatedDim` values. Throws ROW_LENGTH. */
  prepareQuery(query: Float32Array): Float32Array;
  /** Turns a coded-basis vector (a weighted sum of decoded rows) back: `headDim` values. Throws ROW_LENGTH. */
  unrotate(rotated: Float32Array): Float32Array;
  /** q · k of a prepared query and an encoded row, in float64, not scaled. Throws ROW_LENGTH, BYTES_LENGTH. */
  score(preparedQuery: Float32Array, bytes: Uint8Array): number;
}

function checkLength(
  what: string,
  found: number,
  expected: number,
  code: "ROW_LENGTH" | "BYTES_LENGTH",
): void {
  if (found === expected) return;
  const unit = code === "BYTES_LENGTH" ? "bytes" : "values";
  throw new CodecError(
    code,
    `${what} has ${found} ${unit}, expected ${expected}`,
    "Pass one head of one token; the format says how long it is.",
  );
}

function identityHash(name: string, codecs: readonly TileCodec[]): string {
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [encoder.encode(`${name}\n`)];
  for (const codec of codecs) {
    parts.push(
      encoder.encode(`${codec.kind} rate ${codec.rate} width ${codec.width} bytes ${codec.bytes}\n`),
    );
    for (const part of codec.identity) {
      const bytes = typeof part === "string" ? encoder.encode(part) : part;
      parts.push(encoder.encode(`${bytes.length}:`), bytes);
    }
  }
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return sha256(whole);
}

/** Puts the tiles of a head together to a format. */
export function composeFormat(
  name: string,
  headDim: number,
  codecs: readonly TileCodec[],
  mixed: boolean,
): KvFormat {
  const tiles = placeTiles(codecs);
  let hash: string | undefined;
  const first = codecs[0]!;
  const rowBytes = tiles.reduce((sum, tile) => sum + tile.bytes, 0);
  const rotatedDim = tiles.reduce((sum, tile) => sum + tile.rotatedWidth, 0);
  const eachTile = (visit: (codec: TileCodec, tile: Tile) => void) => {
    codecs.forEach((codec, i) => {
      visit(codec, tiles[i]!);
    });
  };
  const decodeRotated = (bytes: Uint8Array): Float32Array => {
    checkLength("Encoded row", bytes.length, rowBytes, "BYTES_LENGTH");
    const out = new Float32Array(rotatedDim);
    eachTile((codec, t) => {
      codec.decodeRotated(
        bytes.subarray(t.byte, t.byte + t.bytes),
        out.subarray(t.rotatedDim, t.rotatedDim + t.rotatedWidth),
      );
    });
    return out;
  };
  const unrotate = (rotated: Float32Array): Float32Array => {
    checkLength("Rotated row", rotated.length, rotatedDim, "ROW_LENGTH");
    const out = new Float32Array(headDim);
    eachTile((codec, t) => {
      codec.unrotate(
        rotated.subarray(t.rotatedDim, t.rotatedDim + t.rotatedWidth),
        out.subarray(t.dim, t.dim + t.width),
      );
    });
    return out;
  };
  return {
    name,
    headDim,
    tile: Math.max(...codecs.map((codec) => codec.width)),
    blockWidth: mixed ? headDim : first.blockWidth,
    blockBytes: mixed ? rowBytes : first.blockBytes,
    bitsPerValue: (8 * rowBytes) / headDim,
    rowBytes,
    rotatedDim,
    get hash() {
      hash ??= identityHash(name, codecs);
      return hash;
    },
    tiles,
    encode(row, { encoder = "default", nonFinite = "throw" } = {}) {
      checkLength("Row", row.length, headDim, "ROW_LENGTH");
      const bad = row.findIndex((value) => !Number.isFinite(value));
      if (bad >= 0 && nonFinite === "throw") {
        throw new CodecError(
          "ROW_NOT_FINITE",
          `Row holds ${row[bad]} at index ${bad}`,
          "Find where it comes from, or pass nonFinite: 'mark' to store a NaN scale.",
        );
      }
      const out = new Uint8Array(rowBytes);
      eachTile((codec, t) => {
        const x = row.subarray(t.dim, t.dim + t.width);
        const whole = codec.encode(x, out.subarray(t.byte, t.byte + t.bytes), encoder);
        if (whole || nonFinite === "mark") return;
        throw new CodecError(
          "ROW_OVERFLOW",
          `Row's sum of squares over values ${t.dim} to ${t.dim + t.width - 1} leaves float32`,
          "Scale the row down; magnitudes above about 1e18 cannot be coded.",
        );
      });
      return out;
    },
    decode: (bytes) => unrotate(decodeRotated(bytes)),
    decodeRotated,
    prepareQuery(query) {
      checkLength("Query", query.length, headDim, "ROW_LENGTH");
      const out = new Float32Array(rotatedDim);
      eachTile((codec, t) => {
        codec.prepareQuery(
          query.subarray(t.dim, t.dim + t.width),
          out.subarray(t.rotatedDim, t.rotatedDim + t.rotatedWidth),
        );
      });
      return out;
    },
    unrotate,
    score(preparedQuery, bytes) {
      checkLength("Prepared query", preparedQuery.length, rotatedDim, "ROW_LENGTH");
      const rotated = decodeRotated(bytes);
      let sum = 0;
      for (let i = 0; i < rotatedDim; i++) sum += preparedQuery[i]! * rotated[i]!;
      return sum;
    },
  };
}
