import { floatFromHalf, HALF_NAN, halfFromFloat, readWord, writeWord } from "./half-floats.ts";
import { dotLanes } from "./lane-sums.ts";
import { normaliseTile } from "./normalised-tile.ts";
import { queryTurns, rotation } from "./rotation.ts";
import { POLAR_TABLE } from "./scalar-tables.ts";
import { codesAt, searchScale } from "./scale-search.ts";
import { expandSigns, SIGNS_RESIDUAL } from "./sign-masks.ts";
import { type TileCodec, tableBytes } from "./tile-codec.ts";

const WIDTH = 128;
const RESIDUAL_BYTE = 66;
const UNIT = Math.fround(0.08838834764831845);
const ROOT_128 = Math.fround(11.313708498984761);
/** Length that the documented residual adds along its sign vector: 0.5/√128 an element. */
const RESIDUAL_STEP = Math.fround(0.04419417382415922);
const basis = rotation("plain128");
const residualSigns = expandSigns(SIGNS_RESIDUAL, WIDTH);

/**
 * q4_polar: 128 values in 82 bytes. fp16 length, 64 bytes of 4-bit codes (low nibble of byte i is element 2i),
 * 16 bytes of which only bit 0 of the first is used, for the residual. Coded basis: H128 x, not scaled.
 * Value there: (centroid ± residual) · length/128. With `residual` off (the default of the format) that bit
 * is zero and is not read; with it on, the documented encoder is used, since the residual exists for parity.
 * Source: elizaOS's PolarQuant; the default encoder is this project's.
 */
export function q4Polar(residual: boolean): TileCodec {
  const z = new Float32Array(WIDTH);
  const unit = new Float32Array(WIDTH);
  const rest = new Float32Array(WIDTH);
  const codes = new Uint8Array(WIDTH);
  return {
    kind: "q4_polar",
    rate: 0,
    width: WIDTH,
    bytes: 82,
    blockWidth: WIDTH,
    blockBytes: 82,
    rotatedWidth: WIDTH,
    identity: [`q4_polar:f16,nibbles,residual ${residual}`, basis.name, tableBytes(POLAR_TABLE.centroids)],
    encode(x, out, encoder) {
      out.fill(0);
      z.set(x);
      basis.forward(z);
      for (let i = 0; i < WIDTH; i++) z[i]! *= UNIT;
      const tile = normaliseTile(z, unit);
      if (tile.kind === "overflow") writeWord(out, 0, HALF_NAN);
      if (tile.kind !== "values") return tile.kind === "zero";
      let length = Math.fround(Math.sqrt(tile.energy));
      if (residual || encoder === "reference") codesAt(POLAR_TABLE, unit, POLAR_TABLE.unit, codes);
      else {
        const scale = Math.fround(tile.rms * searchScale(POLAR_TABLE, unit, codes));
        length = Math.fround(scale * ROOT_128);
      }
      writeWord(out, 0, halfFromFloat(length));
      for (let i = 0; i < WIDTH / 2; i++) out[2 + i] = codes[2 * i]! | (codes[2 * i + 1]! << 4);
      if (residual) {
        for (let i = 0; i < WIDTH; i++) rest[i] = unit[i]! - POLAR_TABLE.centroids[codes[i]!]!;
        out[RESIDUAL_BYTE] = dotLanes(rest, residualSigns) > 0 ? 1 : 0;
      }
      return true;
    },
    decodeRotated(bytes, out) {
      const scale = floatFromHalf(readWord(bytes, 0)) / WIDTH;
      const step = residual ? (bytes[RESIDUAL_BYTE]! & 1 ? RESIDUAL_STEP : -RESIDUAL_STEP) : 0;
      for (let i = 0; i < WIDTH; i++) {
        const pair = bytes[2 + (i >> 1)]!;
        const centroid = POLAR_TABLE.centroids[i & 1 ? pair >> 4 : pair & 15]!;
        out[i] = Math.fround(centroid + step * residualSigns[i]!) * scale;
      }
    },
    ...queryTurns(basis),
  };
}
