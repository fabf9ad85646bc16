import type { GgufCursor } from "./gguf-cursor.ts";
import { malformed } from "./malformed.ts";

/** An array of a GGUF file; `values` is absent when it is longer than was asked for. */
export interface GgufArray {
  elementType: string;
  length: number;
  /** Where the first element begins in the file, in bytes. */
  offset: number;
  values?: readonly GgufValue[];
}

/** Integers of 64 bits are bigints, all other numbers are numbers. */
export type GgufValue = number | bigint | boolean | string | GgufArray;

/** Bytes of the length before a key. */
export const keyBytes = 8;
const maxKeyBytes = 65_535;
const maxStringBytes = 1 << 20;
const maxDepth = 4;
const stringType = 8;
const arrayType = 9;

interface Scalar {
  name: string;
  bytes: number;
  read: (cursor: GgufCursor) => GgufValue;
}

const scalars: ReadonlyMap<number, Scalar> = new Map<number, Scalar>([
  [0, { name: "uint8", bytes: 1, read: (cursor) => cursor.u8() }],
  [1, { name: "int8", bytes: 1, read: (cursor) => cursor.i8() }],
  [2, { name: "uint16", bytes: 2, read: (cursor) => cursor.u16() }],
  [3, { name: "int16", bytes: 2, read: (cursor) => cursor.i16() }],
  [4, { name: "uint32", bytes: 4, read: (cursor) => cursor.u32() }],
  [5, { name: "int32", bytes: 4, read: (cursor) => cursor.i32() }],
  [6, { name: "float32", bytes: 4, read: (cursor) => cursor.f32() }],
  [7, { name: "bool", bytes: 1, read: (cursor) => cursor.u8() !== 0 }],
  [10, { name: "uint64", bytes: 8, read: (cursor) => cursor.u64() }],
  [11, { name: "int64", bytes: 8, read: (cursor) => cursor.i64() }],
  [12, { name: "float64", bytes: 8, read: (cursor) => cursor.f64() }],
]);

/** A length of 64 bits, checked against what is left of the file. The cursor holds its 8 bytes. */
export function readScalarSize(cursor: GgufCursor, what: string): number {
  const bytes = Number(cursor.u64());
  cursor.require(bytes, what);
  return bytes;
}

export async function readKey(cursor: GgufCursor): Promise<string> {
  await cursor.ensure(keyBytes, "a key");
  const bytes = readScalarSize(cursor, "a key");
  if (bytes === 0 || bytes > maxKeyBytes) throw malformed(cursor.path, `a key is ${bytes} bytes long`);
  await cursor.ensure(bytes, "a key");
  return cursor.text(bytes);
}

export async function readValue(cursor: GgufCursor, key: string, keepElements: number): Promise<GgufValue> {
  await cursor.ensure(4, key);
  return await readTyped(cursor, cursor.u32(), key, keepElements, 0);
}

async function readTyped(
  cursor: GgufCursor,
  type: number,
  key: string,
  keepElements: number,
  depth: number,
): Promise<GgufValue> {
  if (type === stringType) return await readString(cursor, key);
  if (type === arrayType) return await readArray(cursor, key, keepElements, depth);
  const scalar = scalars.get(type);
  if (scalar === undefined) throw malformed(cursor.path, `${key} has the unknown type ${type}`);
  await cursor.ensure(scalar.bytes, key);
  cursor.keep(8, key);
  return scalar.read(cursor);
}

/** A string value; the cursor stands at its length. */
export async function readString(cursor: GgufCursor, key: string): Promise<string> {
  await cursor.ensure(8, key);
  const bytes = readScalarSize(cursor, key);
  if (bytes > maxStringBytes) throw malformed(cursor.path, `${key} holds a string of ${bytes} bytes`);
  await cursor.ensure(bytes, key);
  cursor.keep(8 + bytes, key);
  return cursor.text(bytes);
}

async function readArray(
  cursor: GgufCursor,
  key: string,
  keepElements: number,
  depth: number,
): Promise<GgufArray> {
  if (depth >= maxDepth) throw malformed(cursor.path, `${key} nests arrays more than ${maxDepth} deep`);
  await cursor.ensure(12, key);
  const type = cursor.u32();
  const length = Number(cursor.u64());
  const scalar = scalars.get(type);
  const elementType = scalar?.name ?? { [stringType]: "string", [arrayType]: "array" }[type];
  if (elementType === undefined)
    throw malformed(cursor.path, `${key} is an array of the unknown type ${type}`);
  const leastBytes = scalar?.bytes ?? (type === stringType ? 8 : 12);
  cursor.require(length * leastBytes, key);
  const { offset } = cursor;
  if (length <= keepElements) {
    const values: GgufValue[] = [];
    const keepInside = Math.floor(keepElements / Math.max(1, length));
    for (let index = 0; index < length; index++) {
      values.push(await readTyped(cursor, type, key, keepInside, depth + 1));
    }
    return { elementType, length, offset, values };
  }
  if (scalar) cursor.skip(length * scalar.bytes, key);
  else if (type === stringType) await skipStrings(cursor, key, length);
  else for (let index = 0; index < length; index++) await readArray(cursor, key, 0, depth + 1);
  return { elementType, length, offset };
}

/** Steps over a string value; the cursor stands at its length. */
export function skipString(cursor: GgufCursor, key: string): Promise<void> | undefined {
  if (!cursor.has(8)) {
    return cursor.ensure(8, key).then(() => cursor.skip(readScalarSize(cursor, key), key));
  }
  cursor.skip(readScalarSize(cursor, key), key);
  return undefined;
}

async function skipStrings(cursor: GgufCursor, key: string, length: number): Promise<void> {
  for (let index = 0; index < length; index++) {
    const filling = skipString(cursor, key);
    if (filling) await filling;
  }
}
