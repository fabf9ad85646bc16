import { readFile } from "node:fs/promises";
import { readGguf } from "../../src/gguf/index.ts";
import { type WritableGgufTensor, type WritableGgufValue, writeGguf } from "../../src/gguf/write-gguf.ts";

/** Copies a file of statistics with changes; it holds texts, int32, float32 and arrays of int32 alone. */
export async function rewriteGguf(
  from: string,
  to: string,
  change: {
    metadata?: Record<string, WritableGgufValue>;
    tensor?: (tensor: WritableGgufTensor) => WritableGgufTensor | undefined;
  },
): Promise<void> {
  const { metadata, tensors } = await readGguf(from);
  const bytes = await readFile(from);
  const values: Record<string, WritableGgufValue> = {};
  for (const [key, value] of metadata) {
    if (typeof value === "string") values[key] = value;
    else if (key.endsWith("softcap")) values[key] = { float: Number(value) };
    else if (typeof value === "number") values[key] = value;
    else if (typeof value === "object") values[key] = (value.values ?? []).map(Number);
  }
  const kept = tensors.flatMap((tensor) => {
    const piece = bytes.buffer.slice(
      bytes.byteOffset + tensor.offset,
      bytes.byteOffset + tensor.offset + tensor.bytes,
    );
    const typed = tensor.type === "f64" ? new Float64Array(piece) : new Float32Array(piece);
    return (
      (change.tensor ?? ((same) => same))({ name: tensor.name, shape: tensor.shape, values: typed }) ?? []
    );
  });
  await writeGguf(to, { ...values, ...change.metadata }, kept);
}
