import { type KvFormat, sha256 } from "@eliza-inference/codecs";
import type { RowFormat } from "./device.ts";
import { floatFromHalf } from "./half-queries.ts";

const BLOCK = 32;

interface PlainFormat {
  readonly blockBytes: number;
  /** A block's values. */
  decode(bytes: Uint8Array): number[];
}

function scaleOf(bytes: Uint8Array): number {
  return floatFromHalf(bytes[0]! | (bytes[1]! << 8));
}

/** ggml's own formats that caches are kept in, as ggml defines their blocks. */
const PLAIN_FORMATS: Readonly<Record<"f16" | "q8_0" | "q4_0", PlainFormat>> = {
  f16: {
    blockBytes: 2 * BLOCK,
    decode: (bytes) => Array.from({ length: BLOCK }, (_, i) => scaleOf(bytes.subarray(2 * i))),
  },
  q8_0: {
    blockBytes: 2 + BLOCK,
    decode: (bytes) => Array.from(new Int8Array(bytes.slice(2).buffer), (code) => code * scaleOf(bytes)),
  },
  q4_0: {
    blockBytes: 2 + BLOCK / 2,
    decode: (bytes) =>
      Array.from({ length: BLOCK }, (_, i) => {
        const two = bytes[2 + (i % 16)]!;
        return ((i < 16 ? two & 15 : two >> 4) - 8) * scaleOf(bytes);
      }),
  },
};

export type PlainName = keyof typeof PLAIN_FORMATS;

export function isPlain(name: string): name is PlainName {
  return Object.hasOwn(PLAIN_FORMATS, name);
}

/** A format of ggml's for heads of that size, a multiple of 32. It decodes; nothing here encodes it. */
export function plainFormat(name: PlainName, headDim: number): RowFormat {
  const { blockBytes, decode } = PLAIN_FORMATS[name];
  const blocks = headDim / BLOCK;
  const decodeRow = (bytes: Uint8Array): Float32Array =>
    Float32Array.from(
      Array.from({ length: blocks }, (_, i) =>
        decode(bytes.subarray(i * blockBytes, (i + 1) * blockBytes)),
      ).flat(),
    );
  const codec: KvFormat = {
    ...{ name, headDim, tile: BLOCK, blockWidth: BLOCK, blockBytes, rotatedDim: headDim },
    ...{ bitsPerValue: (8 * blockBytes) / BLOCK, rowBytes: blocks * blockBytes },
    hash: sha256(new TextEncoder().encode(`${name} of ggml, ${headDim}`)),
    tiles: [],
    encode: () => {
      throw new RangeError(`${name} is only read here`);
    },
    decode: decodeRow,
    decodeRotated: decodeRow,
    prepareQuery: (query) => query,
    unrotate: (row) => row,
    score: (query, bytes) => decodeRow(bytes).reduce((sum, x, i) => sum + x * query[i]!, 0),
  };
  return { codec, options: {} };
}
