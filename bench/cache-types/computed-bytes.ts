import { type FormatName, format, isFormatName } from "@eliza-inference/codecs";
import type { ModelShape } from "./quality-tool.ts";

/** llama.cpp's types: values and bytes a block. */
const STOCK: Record<string, readonly [number, number]> = {
  f32: [1, 4],
  f16: [1, 2],
  q8_0: [32, 34],
  q5_1: [32, 24],
  q5_0: [32, 22],
  q4_1: [32, 20],
  q4_0: [32, 18],
  iq4_nl: [32, 18],
};

/** Bytes of one head's row by the format's documented layout. Throws for an unknown name. */
export function rowBytes(name: string, headDim: number): number {
  const stock = STOCK[name];
  if (stock) return (headDim / stock[0]) * stock[1];
  const known = name.replace(/_iid$/, "");
  if (!isFormatName(known)) throw new Error(`"${name}" is not a cache type with a known layout`);
  return format(known satisfies FormatName, headDim).rowBytes;
}

/** Bytes of K and V that a token takes in all layers that hold it, computed from the layouts alone. */
export function computedBytesPerToken(shape: ModelShape, k: string, v: string): number {
  return shape.layers.reduce(
    (sum, layer) => sum + layer.kvHeads * (rowBytes(k, layer.headDimK) + rowBytes(v, layer.headDimV)),
    0,
  );
}
