import { hadamard } from "./hadamard.ts";
import { expandSigns, SIGNS_1, SIGNS_2, SIGNS_32 } from "./sign-masks.ts";
import type { TileCodec } from "./tile-codec.ts";

/** Names of the rotations; they are part of a format's identity. */
export type RotationName = "signed32" | "signed64" | "signed128" | "plain128";

/** A linear map of one tile between the original basis and the one in which it is coded. */
export interface Rotation {
  readonly name: RotationName;
  readonly width: number;
  /** Original → coded basis, in place. Orthonormal, but for the query of `plain128` (see docs/formats.md). */
  forward(x: Float32Array): void;
  /** Coded → original basis, in place. */
  inverse(x: Float32Array): void;
}

function scaleBy(x: Float32Array, factor: number): void {
  for (let i = 0; i < x.length; i++) x[i]! *= factor;
}

function multiply(x: Float32Array, signs: Float32Array): void {
  for (let i = 0; i < x.length; i++) x[i]! *= signs[i]!;
}

function signedRotation(
  name: RotationName,
  width: number,
  before: Float32Array,
  after: Float32Array | null,
): Rotation {
  const scale = Math.fround(1 / Math.sqrt(width));
  return {
    name,
    width,
    forward(x) {
      multiply(x, before);
      hadamard(x);
      scaleBy(x, scale);
      if (after) multiply(x, after);
    },
    inverse(x) {
      if (after) multiply(x, after);
      hadamard(x);
      scaleBy(x, scale);
      multiply(x, before);
    },
  };
}

const rotations: Record<RotationName, Rotation> = {
  signed32: signedRotation("signed32", 32, expandSigns(SIGNS_32, 32), null),
  signed64: signedRotation("signed64", 64, expandSigns(SIGNS_1, 64), expandSigns(SIGNS_2, 64)),
  signed128: signedRotation("signed128", 128, expandSigns(SIGNS_1, 128), expandSigns(SIGNS_2, 128)),
  plain128: { name: "plain128", width: 128, forward: hadamard, inverse: hadamard },
};

/** The rotation of that name: signed ones are S2∘H/√n∘S1 (σ before only at 32), `plain128` is H unscaled. */
export function rotation(name: RotationName): Rotation {
  return rotations[name];
}

/** The signed rotation of a tile of 32, 64 or 128 values. */
export function signedRotationOf(width: 32 | 64 | 128): Rotation {
  return rotations[`signed${width}`];
}

/** How a codec whose coded basis is `basis` prepares queries and turns sums of decoded tiles back. */
export function queryTurns(basis: Rotation): Pick<TileCodec, "prepareQuery" | "unrotate"> {
  return {
    prepareQuery(q, out) {
      out.set(q);
      basis.forward(out);
    },
    unrotate(rotated, out) {
      out.set(rotated);
      basis.inverse(out);
    },
  };
}
