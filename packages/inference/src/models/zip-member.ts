import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { pipeline } from "node:stream";
import { createInflateRaw } from "node:zlib";
import { FetchError } from "@eliza-inference/fetch";

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const localSignature = 0x04034b50;
const maxDirectoryBytes = 16 * 1024 * 1024;

interface Entry {
  method: number;
  compressedBytes: number;
  bytes: number;
  headerOffset: number;
}

/**
 * The content of one member of a zip archive, in pieces, in constant memory. Stored and deflated members; no
 * zip64, no encryption. The content's checksum is left to the caller, who knows a stronger one.
 *
 * @throws FetchError ARCHIVE_INVALID
 */
export async function* readZipMember(path: string, member: string): AsyncGenerator<Buffer, void, undefined> {
  const handle = await open(path, "r");
  let start: number;
  let entry: Entry;
  try {
    entry = await findEntry(handle, path, member);
    const local = await readAt(handle, entry.headerOffset, 30, path);
    if (local.readUInt32LE(0) !== localSignature)
      throw broken(path, "a local header is not where it should be");
    start = entry.headerOffset + 30 + local.readUInt16LE(26) + local.readUInt16LE(28);
  } finally {
    await handle.close();
  }
  let given = 0;
  for await (const piece of content(path, start, entry)) {
    given += piece.length;
    if (given > entry.bytes) break;
    yield piece;
  }
  if (given !== entry.bytes) throw broken(path, `${member} is not ${entry.bytes} bytes long`);
}

async function* content(path: string, start: number, entry: Entry): AsyncGenerator<Buffer, void, undefined> {
  if (entry.compressedBytes === 0) return;
  const end = start + entry.compressedBytes - 1;
  const raw = createReadStream(path, { start, end, highWaterMark: 1 << 18 });
  if (entry.method === 0) {
    yield* raw as AsyncIterable<Buffer>;
    return;
  }
  const inflated = pipeline(raw, createInflateRaw({ chunkSize: 1 << 18 }), () => {});
  try {
    yield* inflated as AsyncIterable<Buffer>;
  } catch (error) {
    throw broken(path, "its content cannot be unpacked", error);
  } finally {
    raw.destroy();
  }
}

async function findEntry(handle: FileHandle, path: string, member: string): Promise<Entry> {
  const { size } = await handle.stat();
  const tailBytes = Math.min(size, 22 + 0xffff);
  const tail = await readAt(handle, size - tailBytes, tailBytes, path);
  let end = tail.length - 22;
  while (end >= 0 && tail.readUInt32LE(end) !== endSignature) end--;
  if (end < 0) throw broken(path, "it has no directory");
  const count = tail.readUInt16LE(end + 10);
  const bytes = tail.readUInt32LE(end + 12);
  const offset = tail.readUInt32LE(end + 16);
  if (count === 0xffff || bytes === 0xffffffff || offset === 0xffffffff) throw broken(path, "it is a zip64");
  if (bytes > maxDirectoryBytes || offset + bytes > size)
    throw broken(path, "its directory is out of bounds");
  const directory = await readAt(handle, offset, bytes, path);
  for (let at = 0, index = 0; index < count; index++) {
    if (at + 46 > directory.length || directory.readUInt32LE(at) !== entrySignature) {
      throw broken(path, "its directory is damaged");
    }
    const nameBytes = directory.readUInt16LE(at + 28);
    const next = at + 46 + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
    if (directory.toString("utf8", at + 46, at + 46 + nameBytes) === member) {
      const entry: Entry = {
        method: directory.readUInt16LE(at + 10),
        compressedBytes: directory.readUInt32LE(at + 20),
        bytes: directory.readUInt32LE(at + 24),
        headerOffset: directory.readUInt32LE(at + 42),
      };
      const encrypted = (directory.readUInt16LE(at + 8) & 1) === 1;
      if (encrypted || (entry.method !== 0 && entry.method !== 8)) throw broken(path, `${member} is encoded`);
      if (entry.headerOffset + 30 + entry.compressedBytes > size) {
        throw broken(path, `${member} is out of bounds`);
      }
      return entry;
    }
    at = next;
  }
  throw broken(path, `it has no member ${member}`);
}

async function readAt(handle: FileHandle, at: number, length: number, path: string): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read(buffer, 0, length, at);
  if (bytesRead !== length) throw broken(path, "it ends too early");
  return buffer;
}

function broken(path: string, why: string, cause?: unknown): FetchError {
  return new FetchError("ARCHIVE_INVALID", `${path} is not the archive expected: ${why}`, {
    hint: "Remove it and run the command again.",
    cause,
  });
}
