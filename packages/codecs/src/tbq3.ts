import { floatFromHalf, HALF_NAN, halfFromFloat, readWord, writeWord } from "./half-floats.ts";
import { normaliseTile } from "./normalised-tile.ts";
import { queryTurns, rotation } from "./rotation.ts";
import { TBQ3_TABLE } from "./scalar-tables.ts";
import { codesAt, searchScale } from "./scale-search.ts";
import { type TileCodec, tableBytes } from "./tile-codec.ts";

const WIDTH = 32;
const basis = rotation("signed32");
const z = new Float32Array(WIDTH);
const unit = new Float32Array(WIDTH);
const codes = new Uint8Array(WIDTH);

/**
 * tbq3 (`block_tbq3_0`): 32 values in 14 bytes. fp16 scale, then the 3-bit code of element i at bit 3i of a
 * little-endian stream of 12 bytes. Value in the coded basis: centroid · scale.
 * Source: elizaOS/llama.cpp; the default encoder is this project's.
 */
export const tbq3: TileCodec = {
  kind: "tbq3",
  rate: 0,
  width: WIDTH,
  bytes: 14,
  blockWidth: WIDTH,
  blockBytes: 14,
  rotatedWidth: WIDTH,
  identity: ["tbq3:f16,3bit-lsb", basis.name, tableBytes(TBQ3_TABLE.centroids)],
  encode(x, out, encoder) {
    out.fill(0);
    z.set(x);
    basis.forward(z);
    const tile = normaliseTile(z, unit);
    if (tile.kind === "overflow") writeWord(out, 0, HALF_NAN);
    if (tile.kind !== "values") return tile.kind === "zero";
    let scale = tile.rms;
    if (encoder === "reference") codesAt(TBQ3_TABLE, unit, TBQ3_TABLE.unit, codes);
    else scale = Math.fround(tile.rms * searchScale(TBQ3_TABLE, unit, codes));
    writeWord(out, 0, halfFromFloat(scale));
    for (let i = 0; i < WIDTH; i++) {
      const shifted = codes[i]! << ((3 * i) & 7);
      const at = 2 + ((3 * i) >> 3);
      out[at]! |= shifted;
      if (shifted > 255) out[at + 1]! |= shifted >> 8;
    }
    return true;
  },
  decodeRotated(bytes, out) {
    const scale = floatFromHalf(readWord(bytes, 0));
    for (let i = 0; i < WIDTH; i++) {
      const at = 2 + ((3 * i) >> 3);
      const pair = bytes[at]! | ((bytes[at + 1] ?? 0) << 8);
      out[i] = TBQ3_TABLE.centroids[(pair >> ((3 * i) & 7)) & 7]! * scale;
    }
  },
  ...queryTurns(basis),
};
