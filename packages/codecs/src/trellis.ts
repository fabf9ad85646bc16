import { floatFromHalf, HALF_NAN, halfFromFloat, readWord, writeWord } from "./half-floats.ts";
import { dotLanes } from "./lane-sums.ts";
import { normaliseTile } from "./normalised-tile.ts";
import { queryTurns, signedRotationOf } from "./rotation.ts";
import { stateAt, writeSymbols } from "./symbol-stream.ts";
import { tailBitingStates, trellisSamples } from "./tail-biting.ts";
import { type TileCodec, tableBytes } from "./tile-codec.ts";
import { STATE_BITS, type TrellisCodebook } from "./trellis-codebook.ts";
import { viterbi } from "./viterbi.ts";

const SCALE_BYTES = 2;
const UNIT_128 = Math.fround(0.08838834764831845);

/** The values of a path as float32, and its least-squares factor on `unit`: Σ u·c / Σ c·c, 0 if all are 0. */
function fitPath(
  codebook: TrellisCodebook,
  states: Uint16Array,
  unit: Float32Array,
  c: Float32Array,
): number {
  for (let i = 0; i < unit.length; i++) c[i] = codebook.values[states[i]!]!;
  const energy = dotLanes(c, c);
  return energy > 0 ? Math.fround(dotLanes(unit, c) / energy) : 0;
}

function identity(codebook: TrellisCodebook, layout: string, step: number, rotation: string) {
  const table = new Uint8Array(codebook.values.buffer, codebook.values.byteOffset, codebook.values.length);
  return [layout, rotation, table, tableBytes(Float32Array.of(step))];
}

/**
 * A trellis tile, tail-biting: fp16 scale, then n·k bits. Value of sample t in the coded basis:
 * values[state t] · (scale · step). 512 states, k bits a symbol. There is no other documented encoder, so
 * `reference` is the default one.
 * Source: trellis-coded quantisation (Marcellin, Fischer 1990) with a computed bit-shift trellis, tail-biting
 * as in convolutional coding; layout and codebooks are this project's.
 */
export function trellis(codebook: TrellisCodebook, width: 32 | 64 | 128): TileCodec {
  const { rate, step, values } = codebook;
  const basis = signedRotationOf(width);
  const bytes = SCALE_BYTES + (width * rate) / 8;
  const z = new Float32Array(width);
  const unit = new Float32Array(width);
  const c = new Float32Array(width);
  const samples = new Int32Array(width);
  const states = new Uint16Array(width);
  return {
    kind: "trellis",
    rate,
    width,
    bytes,
    blockWidth: width,
    blockBytes: bytes,
    rotatedWidth: width,
    identity: identity(codebook, "trellis:f16,tail-biting", step, basis.name),
    encode(x, out) {
      out.fill(0);
      z.set(x);
      basis.forward(z);
      const tile = normaliseTile(z, unit);
      if (tile.kind === "overflow") writeWord(out, 0, HALF_NAN);
      if (tile.kind !== "values") return tile.kind === "zero";
      trellisSamples(codebook, unit, samples);
      tailBitingStates(codebook, samples, states);
      const scale = Math.fround(Math.fround(tile.rms * fitPath(codebook, states, unit, c)) / step);
      writeWord(out, 0, halfFromFloat(scale));
      writeSymbols(states, rate, out.subarray(SCALE_BYTES), width * rate);
      return true;
    },
    decodeRotated(encoded, out) {
      const unitValue = Math.fround(floatFromHalf(readWord(encoded, 0)) * step);
      const stream = encoded.subarray(SCALE_BYTES);
      for (let t = 0; t < width; t++) out[t] = values[stateAt(stream, rate, t)]! * unitValue;
    },
    ...queryTurns(basis),
  };
}

/** Value of one codebook unit in elizaOS' layout, whose scale is a length of 128 values: step/√128. */
export function prefixedStep(codebook: TrellisCodebook): number {
  return Math.fround(codebook.step * UNIT_128);
}

/**
 * elizaOS' turbo3_tcq: 128 values in 52 bytes: fp16 length, 49 bytes of stream, a zero byte. The stream opens
 * with six bits kept of the state before the first sample, then three bits a symbol; free ends. Value of sample
 * t: values[state t] · (length · step/√128). The default encoder stores the least-squares length, the reference
 * one the length that keeps the norm.
 * Source: spiritbuun/buun-llama-cpp's turbo3_tcq; the codebook is this project's.
 */
export function prefixedTrellis(codebook: TrellisCodebook): TileCodec {
  const { rate, values } = codebook;
  const width = 128;
  const bytes = 52;
  const streamBytes = 49;
  const step = prefixedStep(codebook);
  const basis = signedRotationOf(width);
  const z = new Float32Array(width);
  const unit = new Float32Array(width);
  const c = new Float32Array(width);
  const samples = new Int32Array(width);
  return {
    kind: "trellis_prefixed",
    rate,
    width,
    bytes,
    blockWidth: width,
    blockBytes: bytes,
    rotatedWidth: width,
    identity: identity(codebook, "trellis:f16,prefix 6,pad", step, basis.name),
    encode(x, out, encoder) {
      out.fill(0);
      z.set(x);
      basis.forward(z);
      const tile = normaliseTile(z, unit);
      if (tile.kind === "overflow") writeWord(out, 0, HALF_NAN);
      if (tile.kind !== "values") return tile.kind === "zero";
      trellisSamples(codebook, unit, samples);
      const { states } = viterbi(codebook, samples, -1);
      const fit = fitPath(codebook, states, unit, c);
      let length = Math.fround(Math.fround(tile.rms * fit) / step);
      if (encoder === "reference") {
        const pathNorm = Math.fround(Math.fround(Math.sqrt(dotLanes(c, c))) * step);
        length = Math.fround(Math.fround(Math.sqrt(tile.energy)) / pathNorm);
      }
      writeWord(out, 0, halfFromFloat(length));
      const stream = out.subarray(SCALE_BYTES, SCALE_BYTES + streamBytes);
      stream[0] = states[0]! & ((1 << (STATE_BITS - rate)) - 1);
      writeSymbols(states, rate, stream, 8 * streamBytes);
      return true;
    },
    decodeRotated(encoded, out) {
      const unitValue = Math.fround(floatFromHalf(readWord(encoded, 0)) * step);
      const stream = encoded.subarray(SCALE_BYTES, SCALE_BYTES + streamBytes);
      for (let t = 0; t < width; t++) out[t] = values[stateAt(stream, rate, t)]! * unitValue;
    },
    ...queryTurns(basis),
  };
}
