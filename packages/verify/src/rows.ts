import type { KvFormat, Tile } from "@eliza-inference/codecs";
import { isPlain } from "./plain-formats.ts";
import type { Random } from "./random.ts";

/** How large the scales of generated rows are. */
export type ScaleProfile = "normal" | "tiny" | "huge" | "zero" | "nan";

const HALF_NAN = 0x7e00;
const BFLOAT_NAN = 0x7fc0;

function half(profile: ScaleProfile, random: Random): number {
  if (profile === "tiny") return 1 + random.below(0x3ff); // subnormals
  if (profile === "huge") return 0x7800 + random.below(0x400); // 32768 to 65504
  return 0x3400 + random.below(0xc00); // 0.25 to 2
}

function bfloat(profile: ScaleProfile, random: Random): number {
  if (profile === "tiny") return 0x0d00 + random.below(0x80); // about 4e-31
  if (profile === "huge") return 0x7100 + random.below(0x80); // about 6e29
  return 0x3e80 + random.below(0x180); // 0.25 to 2
}

/** Byte offsets of a tile's scales. */
function scaleOffsets(tile: Tile): number[] {
  if (tile.kind === "turbo3") {
    const blocks = tile.width / 32;
    return Array.from({ length: blocks }, (_, block) => tile.byte + (block * tile.bytes) / blocks);
  }
  return [tile.kind === "qjl1_256" ? tile.byte + 32 : tile.byte];
}

/**
 * Encoded rows of random codes: every byte pattern is a valid row, so decoders are tested on all of them, padding
 * and unused bits included. Scales are drawn by profile; "zero" and "nan" give every third row such scales.
 */
export function randomRows(
  format: KvFormat,
  count: number,
  random: Random,
  profile: ScaleProfile,
): Uint8Array {
  const bytes = random.bytes(count * format.rowBytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let row = 0; row < count; row++) {
    const special = row % 3 === 1;
    for (const tile of format.tiles) {
      const isBfloat = tile.kind === "qjl1_256";
      for (const offset of scaleOffsets(tile)) {
        let scale = isBfloat ? bfloat(profile, random) : half(profile, random);
        if (special && profile === "zero") scale = 0;
        if (special && profile === "nan") scale = isBfloat ? BFLOAT_NAN : HALF_NAN;
        view.setUint16(row * format.rowBytes + offset, scale, true);
      }
    }
  }
  return bytes;
}

/** fp16 numbers of either sign between 0.25 and 4. */
export function randomHalves(count: number, random: Random): Uint16Array {
  return Uint16Array.from({ length: count }, () => 0x3400 + random.below(0x1000) + 0x8000 * random.below(2));
}

/** Encoded rows whose scales, or values, are of ordinary size. */
export function randomCache(codec: KvFormat, count: number, random: Random): Uint8Array {
  if (codec.name === "f16") return new Uint8Array(randomHalves(count * codec.headDim, random).buffer);
  const bytes = randomRows(codec, count, random, "normal");
  if (!isPlain(codec.name)) return bytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; at += codec.blockBytes) {
    view.setUint16(at, 0x2400 + random.below(0x800), true); // 1/64 to 1/16
  }
  return bytes;
}

/** `pattern` again and again, to `length` bytes. */
export function repeated(pattern: Uint8Array, length: number): Uint8Array {
  if (pattern.length === length) return pattern;
  const out = new Uint8Array(length);
  for (let at = 0; at < length; at += pattern.length) {
    out.set(pattern.subarray(0, Math.min(pattern.length, length - at)), at);
  }
  return out;
}
