import { type FileHandle, open } from "node:fs/promises";
import { InferenceError } from "../errors.ts";
import { GgufCursor } from "./gguf-cursor.ts";
import {
  type GgufArray,
  type GgufValue,
  keyBytes,
  readKey,
  readScalarSize,
  readString,
  readValue,
  skipString,
} from "./gguf-values.ts";
import { malformed } from "./malformed.ts";
import { cacheTypeIds, tensorTypes } from "./tensor-types.ts";

const maxDimensions = 4;
const maxEntries = 65_536;
const maxTensorNameBytes = 63;
const leastEntryBytes = keyBytes + 1 + 4 + 1;
const leastTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;

export interface GgufTensor {
  name: string;
  /** The number of values a dimension, the contiguous one first; 1 to 4 of them. */
  shape: readonly number[];
  /** The type's name, such as "q4_1". */
  type: string;
  /** From the start of the file, in bytes. */
  offset: number;
  bytes: number;
}

export interface GgufFile {
  path: string;
  version: 2 | 3;
  fileBytes: number;
  metadata: ReadonlyMap<string, GgufValue>;
  tensors: readonly GgufTensor[];
  /** Where the tensors' data begins. */
  dataOffset: number;
}

export interface ReadGgufOptions {
  /** Arrays with more elements keep only their type and length; 1,024 by default. */
  keepArrayElements?: number;
  /** The header, key-values and tensor infos may be this long; 256 MiB by default. */
  maxMetadataBytes?: number;
}

/**
 * Reads a GGUF file's metadata and checks all that can be checked without its weights: every count and length
 * against the file's size, types, shapes, alignment, and that each tensor lies inside the file. Takes constant
 * memory beside what it returns. Versions 2 and 3, little endian.
 *
 * @throws InferenceError MODEL_NOT_FOUND, PERMISSION_DENIED, MODEL_INVALID.
 */
export async function readGguf(path: string, options: ReadGgufOptions = {}): Promise<GgufFile> {
  const handle = await openModel(path);
  try {
    const info = await handle.stat();
    if (!info.isFile()) throw malformed(path, "it is no plain file");
    if (info.size === 0) throw malformed(path, "the file is empty");
    const cursor = new GgufCursor(handle, path, info.size, options.maxMetadataBytes ?? 256 * 1024 * 1024);
    return await read(cursor, options.keepArrayElements ?? 1024);
  } finally {
    await handle.close();
  }
}

/** All elements of an array of int32. */
export async function readGgufIntegers(file: GgufFile, array: GgufArray): Promise<number[]> {
  if (array.elementType !== "int32") {
    throw new InferenceError(
      "INVALID_ARGUMENT",
      `the array is of ${array.elementType}, not of int32`,
      "Give an array of integers.",
    );
  }
  const handle = await openModel(file.path);
  try {
    const bytes = Buffer.alloc(4 * array.length);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, array.offset);
    if (bytesRead < bytes.length) throw malformed(file.path, "an array ends with the file");
    return Array.from({ length: array.length }, (_, index) => bytes.readInt32LE(4 * index));
  } finally {
    await handle.close();
  }
}

/**
 * Elements of an array of strings that `readGguf` did not keep, such as the texts of two tokens.
 *
 * @param indexes in any order, each below the array's length
 * @throws InferenceError as readGguf, and INVALID_ARGUMENT.
 */
export async function readGgufStrings(
  file: GgufFile,
  array: GgufArray,
  indexes: readonly number[],
): Promise<string[]> {
  if (array.elementType !== "string" || indexes.some((index) => !(index >= 0 && index < array.length))) {
    throw new InferenceError(
      "INVALID_ARGUMENT",
      `the array of ${array.length} ${array.elementType} has no strings ${indexes.join(", ")}`,
      "Give indexes below the array's length.",
    );
  }
  const handle = await openModel(file.path);
  try {
    const cursor = new GgufCursor(handle, file.path, (await handle.stat()).size, file.dataOffset);
    cursor.skip(array.offset, "the array");
    const found = new Map<number, string>();
    const last = Math.max(-1, ...indexes);
    const wanted = new Set(indexes);
    for (let index = 0; index <= last; index++) {
      if (wanted.has(index)) found.set(index, await readString(cursor, "the array"));
      else await skipString(cursor, "the array");
    }
    return indexes.map((index) => found.get(index) ?? "");
  } finally {
    await handle.close();
  }
}

async function openModel(path: string): Promise<FileHandle> {
  try {
    return await open(path, "r");
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") {
      throw new InferenceError("MODEL_NOT_FOUND", `${path} is not there`, "Check the path.", {
        cause: error,
      });
    }
    throw new InferenceError(
      "PERMISSION_DENIED",
      `${path} could not be opened (${String(code)})`,
      "Check the file's permissions.",
      { cause: error },
    );
  }
}

async function read(cursor: GgufCursor, keepElements: number): Promise<GgufFile> {
  const { path, fileBytes } = cursor;
  await cursor.ensure(Math.min(24, fileBytes), "the header");
  if (fileBytes < 4) throw malformed(path, `it has ${fileBytes} bytes`);
  const begin = cursor.text(4);
  if (begin !== "GGUF") throw malformed(path, `it begins with ${JSON.stringify(begin)}${guess(begin)}`);
  cursor.require(20, "the header");
  const version = cursor.u32();
  if (version === 0x02000000 || version === 0x03000000) throw malformed(path, "it is big endian");
  if (version !== 2 && version !== 3) throw malformed(path, `its version is ${version}, not 2 or 3`);
  const tensorCount = readCount(cursor, leastTensorBytes, "tensors");
  const entryCount = readCount(cursor, leastEntryBytes, "key-values");

  const metadata = new Map<string, GgufValue>();
  for (let index = 0; index < entryCount; index++) {
    const key = await readKey(cursor);
    if (metadata.has(key)) throw malformed(path, `the key ${key} stands there twice`);
    metadata.set(key, await readValue(cursor, key, keepElements));
  }
  const alignment = alignmentOf(metadata, path);
  const infos: TensorInfo[] = [];
  const names = new Set<string>();
  for (let index = 0; index < tensorCount; index++) {
    const info = await readTensorInfo(cursor);
    if (names.has(info.name)) throw malformed(path, `the tensor ${info.name} stands there twice`);
    names.add(info.name);
    infos.push(info);
  }
  const dataOffset = Math.ceil(cursor.offset / alignment) * alignment;
  const tensors = infos.map((info) => placed(info, dataOffset, alignment, cursor));
  return { path, version, fileBytes, metadata, tensors, dataOffset };
}

function guess(begin: string): string {
  if (begin === "vers") return ": this may be a Git LFS pointer, which git lfs pull replaces by the file";
  if (/^<(!DO|htm|HTM)/.test(begin)) return ": this is a web page, such as a login or an error";
  return ', not with "GGUF"';
}

function readCount(cursor: GgufCursor, leastBytes: number, what: string): number {
  const count = Number(cursor.u64());
  if (count > maxEntries) throw malformed(cursor.path, `it states ${count} ${what}, more than ${maxEntries}`);
  if (count * leastBytes > cursor.fileBytes) {
    throw malformed(
      cursor.path,
      `it states ${count} ${what}, more than its ${cursor.fileBytes} bytes can hold`,
    );
  }
  return count;
}

function alignmentOf(metadata: ReadonlyMap<string, GgufValue>, path: string): number {
  const stated = metadata.get("general.alignment");
  if (stated === undefined) return 32;
  if (typeof stated !== "number" || stated < 1 || stated > 65_536 || !Number.isInteger(Math.log2(stated))) {
    throw malformed(path, `general.alignment is ${String(stated)}, not a power of two up to 65536`);
  }
  return stated;
}

interface TensorInfo {
  name: string;
  shape: number[];
  typeId: number;
  relativeOffset: bigint;
}

async function readTensorInfo(cursor: GgufCursor): Promise<TensorInfo> {
  await cursor.ensure(8, "a tensor's name");
  const nameBytes = readScalarSize(cursor, "a tensor's name");
  if (nameBytes === 0 || nameBytes > maxTensorNameBytes) {
    throw malformed(
      cursor.path,
      `a tensor's name is ${nameBytes} bytes long, not 1 to ${maxTensorNameBytes}`,
    );
  }
  await cursor.ensure(nameBytes + 4, "a tensor's name");
  const name = cursor.text(nameBytes);
  const dimensions = cursor.u32();
  if (dimensions < 1 || dimensions > maxDimensions) {
    throw malformed(
      cursor.path,
      `the tensor ${name} has ${dimensions} dimensions, not 1 to ${maxDimensions}`,
    );
  }
  await cursor.ensure(dimensions * 8 + 12, `the tensor ${name}`);
  const shape: number[] = [];
  for (let index = 0; index < dimensions; index++) shape.push(Number(cursor.u64()));
  return { name, shape, typeId: cursor.u32(), relativeOffset: cursor.u64() };
}

function placed(info: TensorInfo, dataOffset: number, alignment: number, cursor: GgufCursor): GgufTensor {
  const { path, fileBytes } = cursor;
  const { name, shape, typeId } = info;
  const type = tensorTypes.get(typeId);
  if (type === undefined) {
    const ours = typeId >= cacheTypeIds.first && typeId <= cacheTypeIds.last;
    const why = ours ? "a number that only caches may use" : "which is not known";
    throw malformed(path, `the tensor ${name} has type ${typeId}, ${why}`);
  }
  const values = shape.reduce((product, length) => product * length, 1);
  const [row = 0] = shape;
  if (values < 1 || !Number.isSafeInteger(values) || row % type.blockValues !== 0) {
    throw malformed(path, `the tensor ${name} of type ${type.name} has the shape ${shape.join(" × ")}`);
  }
  const bytes = (values / type.blockValues) * type.blockBytes;
  const offset = dataOffset + Number(info.relativeOffset);
  if (offset % alignment !== 0)
    throw malformed(path, `the tensor ${name} is not aligned to ${alignment} bytes`);
  if (offset + bytes > fileBytes) {
    throw malformed(
      path,
      `the tensor ${name} ends at ${offset + bytes}, and the file after ${fileBytes} bytes: it is cut`,
    );
  }
  return { name, shape, type: type.name, offset, bytes };
}
