import { floatFromHalf, HALF_NAN, halfFromFloat, readWord, writeWord } from "./half-floats.ts";
import { normaliseTile } from "./normalised-tile.ts";
import { queryTurns, rotation } from "./rotation.ts";
import { TURBO4_TABLE } from "./scalar-tables.ts";
import { codesAt, searchScale } from "./scale-search.ts";
import { type TileCodec, tableBytes } from "./tile-codec.ts";

const WIDTH = 32;
const HALF_WIDTH = WIDTH / 2;
const basis = rotation("signed32");
const z = new Float32Array(WIDTH);
const unit = new Float32Array(WIDTH);
const codes = new Uint8Array(WIDTH);

/**
 * turbo4 (TBQ4): 32 values in 18 bytes. fp16 scale, then 16 bytes: low nibble of byte i is the code of
 * element i, high nibble that of element i + 16. Value in the coded basis: centroid · scale.
 * Source: the `block_tbq4_0` layout of elizaOS/llama.cpp; the default encoder is this project's.
 */
export const turbo4: TileCodec = {
  kind: "turbo4",
  rate: 0,
  width: WIDTH,
  bytes: 18,
  blockWidth: WIDTH,
  blockBytes: 18,
  rotatedWidth: WIDTH,
  identity: ["turbo4:f16,lo16hi16", basis.name, tableBytes(TURBO4_TABLE.centroids)],
  encode(x, out, encoder) {
    out.fill(0);
    z.set(x);
    basis.forward(z);
    const tile = normaliseTile(z, unit);
    if (tile.kind === "overflow") writeWord(out, 0, HALF_NAN);
    if (tile.kind !== "values") return tile.kind === "zero";
    let scale = tile.rms;
    if (encoder === "reference") codesAt(TURBO4_TABLE, unit, TURBO4_TABLE.unit, codes);
    else scale = Math.fround(tile.rms * searchScale(TURBO4_TABLE, unit, codes));
    writeWord(out, 0, halfFromFloat(scale));
    for (let i = 0; i < HALF_WIDTH; i++) out[2 + i] = codes[i]! | (codes[i + HALF_WIDTH]! << 4);
    return true;
  },
  decodeRotated(bytes, out) {
    const scale = floatFromHalf(readWord(bytes, 0));
    for (let i = 0; i < HALF_WIDTH; i++) {
      const pair = bytes[2 + i]!;
      out[i] = TURBO4_TABLE.centroids[pair & 15]! * scale;
      out[i + HALF_WIDTH] = TURBO4_TABLE.centroids[pair >> 4]! * scale;
    }
  },
  ...queryTurns(basis),
};
