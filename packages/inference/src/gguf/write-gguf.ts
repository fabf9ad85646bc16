import { type FileHandle, open, rename, rm } from "node:fs/promises";

export type WritableGgufValue =
  | string
  | number
  | { float: number }
  | { unsigned: number }
  | { strings: readonly string[] }
  | { floats: readonly number[] }
  | readonly number[];

export interface WritableGgufTensor {
  name: string;
  /** The contiguous dimension first. */
  shape: readonly number[];
  values: Float32Array | Float64Array;
}

const alignment = 32;
const types = { uint32: 4, int32: 5, float32: 6, string: 8, array: 9 } as const;
const tensorTypes = { float32: 0, float64: 28 } as const;

/**
 * Writes a GGUF file of version 3 beside its place and renames it. Numbers and their arrays become int32,
 * `{ unsigned }` uint32, `{ float }` and `{ floats }` float32.
 */
export async function writeGguf(
  path: string,
  metadata: Readonly<Record<string, WritableGgufValue>>,
  tensors: readonly WritableGgufTensor[],
): Promise<void> {
  const partial = `${path}.${process.pid}.new`;
  try {
    const handle = await open(partial, "w");
    try {
      await write(handle, metadata, tensors);
    } finally {
      await handle.close();
    }
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function write(
  handle: FileHandle,
  metadata: Readonly<Record<string, WritableGgufValue>>,
  tensors: readonly WritableGgufTensor[],
): Promise<void> {
  const entries = Object.entries(metadata);
  const head: Buffer[] = [
    Buffer.from("GGUF"),
    u32(3),
    u64(tensors.length),
    u64(entries.length),
    ...entries.flatMap(([key, value]) => [text(key), ...encoded(value)]),
  ];
  let offset = 0;
  for (const { name, shape, values } of tensors) {
    const type = values instanceof Float64Array ? tensorTypes.float64 : tensorTypes.float32;
    head.push(text(name), u32(shape.length), ...shape.map(u64), u32(type), u64(offset));
    offset = aligned(offset + values.byteLength);
  }
  const headBytes = head.reduce((sum, part) => sum + part.length, 0);
  await handle.writeFile(Buffer.concat([...head, Buffer.alloc(aligned(headBytes) - headBytes)]));
  for (const { values } of tensors) {
    const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
    await handle.writeFile(bytes);
    await handle.writeFile(Buffer.alloc(aligned(bytes.length) - bytes.length));
  }
}

function encoded(value: WritableGgufValue): Buffer[] {
  if (typeof value === "string") return [u32(types.string), text(value)];
  if (typeof value === "number") return [u32(types.int32), i32(value)];
  if ("unsigned" in value) return [u32(types.uint32), u32(value.unsigned)];
  if ("float" in value) return [u32(types.float32), f32(value.float)];
  if ("strings" in value) {
    return [u32(types.array), u32(types.string), u64(value.strings.length), ...value.strings.map(text)];
  }
  if ("floats" in value) {
    return [u32(types.array), u32(types.float32), u64(value.floats.length), ...value.floats.map(f32)];
  }
  return [u32(types.array), u32(types.int32), u64(value.length), ...value.map(i32)];
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function i32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

function f32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}
