import { BFLOAT_NAN, bfloatFromFloat, floatFromBfloat, readWord, writeWord } from "./half-floats.ts";
import { dotLanes } from "./lane-sums.ts";
import { QJL_SIGNS, QJL_WIDTH } from "./qjl-projection.ts";
import { type TileCodec, tableBytes } from "./tile-codec.ts";

const SIGN_BYTES = QJL_SIGNS / 8;
const BYTES = SIGN_BYTES + 2;

/** √(π/2) / 256: makes the score an unbiased estimate of q · k. */
export const QJL_SCALE = Math.fround(1.2533141373155003 / QJL_SIGNS);

/** sketch[j] = Σ_i x[i] · P[i][j], summed in order of i, each product rounded to float32 before the add. */
export function sketch(projection: Float32Array, x: Float32Array, out: Float32Array): void {
  out.fill(0);
  for (let i = 0; i < QJL_WIDTH; i++) {
    const value = x[i]!;
    const row = i * QJL_SIGNS;
    for (let j = 0; j < QJL_SIGNS; j++) out[j]! += Math.fround(value * projection[row + j]!);
  }
}

/**
 * qjl1_256: 128 values in 34 bytes, for keys. The signs of a 256-wide projection (bit j mod 8 of byte j/8 set
 * where the sketch is above zero), then the length of the key as bf16. Coded basis: the 256-wide sketch; a
 * decoded key is ±length·√(π/2)/256 there, a query its own sketch. Both encoders are the same.
 * Source: QJL (Zandieh, Daliri, Han 2024); layout of elizaOS/eliza's qjl-cpu.
 */
export function qjl1x256(projection: Float32Array): TileCodec {
  const signs = new Float32Array(QJL_SIGNS);
  return {
    kind: "qjl1_256",
    rate: 0,
    width: QJL_WIDTH,
    bytes: BYTES,
    blockWidth: QJL_WIDTH,
    blockBytes: BYTES,
    rotatedWidth: QJL_SIGNS,
    identity: ["qjl1_256:256bit,bf16", tableBytes(projection)],
    encode(x, out) {
      out.fill(0);
      const energy = dotLanes(x, x);
      if (!(energy < Number.POSITIVE_INFINITY)) {
        writeWord(out, SIGN_BYTES, BFLOAT_NAN);
        return false;
      }
      sketch(projection, x, signs);
      for (let j = 0; j < QJL_SIGNS; j++) if (signs[j]! > 0) out[j >> 3]! |= 1 << (j & 7);
      writeWord(out, SIGN_BYTES, bfloatFromFloat(Math.fround(Math.sqrt(energy))));
      return true;
    },
    decodeRotated(bytes, out) {
      const scale = Math.fround(floatFromBfloat(readWord(bytes, SIGN_BYTES)) * QJL_SCALE);
      for (let j = 0; j < QJL_SIGNS; j++) out[j] = (bytes[j >> 3]! >> (j & 7)) & 1 ? scale : -scale;
    },
    prepareQuery(q, out) {
      sketch(projection, q, out);
    },
    unrotate(rotated, out) {
      for (let i = 0; i < QJL_WIDTH; i++) {
        out[i] = dotLanes(projection.subarray(i * QJL_SIGNS, (i + 1) * QJL_SIGNS), rotated);
      }
    },
  };
}
