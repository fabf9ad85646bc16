import { floatFromHalf, HALF_NAN, halfFromFloat, readWord, writeWord } from "./half-floats.ts";
import { dotLanes } from "./lane-sums.ts";
import { normaliseTile } from "./normalised-tile.ts";
import { queryTurns, signedRotationOf } from "./rotation.ts";
import { TURBO3_TABLE } from "./scalar-tables.ts";
import { codesAt, searchScale } from "./scale-search.ts";
import { type TileCodec, tableBytes } from "./tile-codec.ts";

const BLOCK = 32;
const BLOCK_BYTES = 14;

/** fp16 norm, 8 bytes with the two low bits of each code, 4 bytes with the high bit. */
function writeBlock(out: Uint8Array, norm: number, codes: Uint8Array): void {
  writeWord(out, 0, halfFromFloat(norm));
  for (let i = 0; i < BLOCK; i++) {
    out[2 + (i >> 2)]! |= (codes[i]! & 3) << (2 * (i & 3));
    out[10 + (i >> 3)]! |= (codes[i]! >> 2) << (i & 7);
  }
}

/**
 * turbo3: a tile of 128 (or 64) values rotated together, stored as blocks of 32 in 14 bytes.
 * Value in the coded basis: centroid · the norm of its own block. The documented encoder gives all blocks of
 * a tile the same norm; the default one searches a scale a block, which every decoder reads as well.
 * Source: elizaOS's turbo3 after spiritbuun/buun-llama-cpp; tile 64 and the default encoder are this project's.
 */
export function turbo3(width: 64 | 128): TileCodec {
  const basis = signedRotationOf(width);
  const blocks = width / BLOCK;
  const z = new Float32Array(width);
  const unit = new Float32Array(width);
  const codes = new Uint8Array(width);
  const values = new Float32Array(width);

  const encodeReference = (out: Uint8Array): boolean => {
    const tile = normaliseTile(z, unit);
    if (tile.kind === "overflow") for (let b = 0; b < blocks; b++) writeWord(out, b * BLOCK_BYTES, HALF_NAN);
    if (tile.kind !== "values") return tile.kind === "zero";
    codesAt(TURBO3_TABLE, unit, TURBO3_TABLE.unit, codes);
    for (let i = 0; i < width; i++) values[i] = TURBO3_TABLE.centroids[codes[i]!]!;
    const length = Math.fround(Math.sqrt(tile.energy));
    const norm = Math.fround(length / Math.fround(Math.sqrt(dotLanes(values, values))));
    for (let b = 0; b < blocks; b++) {
      writeBlock(out.subarray(b * BLOCK_BYTES), norm, codes.subarray(b * BLOCK, (b + 1) * BLOCK));
    }
    return true;
  };

  const encodeBlock = (b: number, out: Uint8Array): boolean => {
    const u = unit.subarray(0, BLOCK);
    const tile = normaliseTile(z.subarray(b * BLOCK, (b + 1) * BLOCK), u);
    if (tile.kind === "overflow") writeWord(out, 0, HALF_NAN);
    if (tile.kind !== "values") return tile.kind === "zero";
    const fit = searchScale(TURBO3_TABLE, u, codes.subarray(0, BLOCK));
    writeBlock(out, Math.fround(tile.rms * fit), codes);
    return true;
  };

  return {
    kind: "turbo3",
    rate: 0,
    width,
    bytes: blocks * BLOCK_BYTES,
    blockWidth: BLOCK,
    blockBytes: BLOCK_BYTES,
    rotatedWidth: width,
    identity: ["turbo3:f16,2bit,1bit", basis.name, tableBytes(TURBO3_TABLE.centroids)],
    encode(x, out, encoder) {
      out.fill(0);
      z.set(x);
      basis.forward(z);
      if (encoder === "reference") return encodeReference(out);
      let whole = true;
      for (let b = 0; b < blocks; b++) {
        if (!encodeBlock(b, out.subarray(b * BLOCK_BYTES, (b + 1) * BLOCK_BYTES))) whole = false;
      }
      return whole;
    },
    decodeRotated(bytes, out) {
      for (let i = 0; i < width; i++) {
        const at = (i >> 5) * BLOCK_BYTES;
        const j = i & 31;
        const low = (bytes[at + 2 + (j >> 2)]! >> (2 * (j & 3))) & 3;
        const high = (bytes[at + 10 + (j >> 3)]! >> (j & 7)) & 1;
        out[i] = TURBO3_TABLE.centroids[low | (high << 2)]! * floatFromHalf(readWord(bytes, at));
      }
    },
    ...queryTurns(basis),
  };
}
