import type { FileHandle } from "node:fs/promises";
import { malformed } from "./malformed.ts";

const windowBytes = 1 << 18;
const maxKeptBytes = 16 * 1024 * 1024;

/**
 * Reads a file's little-endian values one after the other through a window of 256 KiB. `ensure` must have been
 * awaited for the bytes that a synchronous read then takes.
 */
export class GgufCursor {
  readonly path: string;
  readonly fileBytes: number;
  /** No read may go beyond this offset. */
  readonly limit: number;
  #handle: FileHandle;
  #window = Buffer.alloc(0);
  #windowStart = 0;
  #at = 0;
  #keptBytes = 0;

  constructor(handle: FileHandle, path: string, fileBytes: number, limit: number) {
    this.#handle = handle;
    this.path = path;
    this.fileBytes = fileBytes;
    this.limit = Math.min(limit, fileBytes);
  }

  /** The offset in the file of the next byte. */
  get offset(): number {
    return this.#windowStart + this.#at;
  }

  /** Bytes that may still be read. */
  get remaining(): number {
    return this.limit - this.offset;
  }

  has(bytes: number): boolean {
    return this.#window.length - this.#at >= bytes;
  }

  /** Brings the next `bytes` (at most 1 MiB) into the window. */
  async ensure(bytes: number, what: string): Promise<void> {
    if (this.has(bytes)) return;
    this.require(bytes, what);
    const start = this.offset;
    const length = Math.min(Math.max(bytes, windowBytes), this.fileBytes - start);
    const window = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await this.#handle.read(window, filled, length - filled, start + filled);
      if (bytesRead === 0) throw malformed(this.path, `the file ends at ${start + filled}, inside ${what}`);
      filled += bytesRead;
    }
    this.#window = window;
    this.#windowStart = start;
    this.#at = 0;
  }

  /** Throws when fewer than `bytes` are left. */
  require(bytes: number, what: string): void {
    if (bytes <= this.remaining) return;
    if (this.limit < this.fileBytes) {
      throw malformed(this.path, `its metadata is larger than ${this.limit} bytes`);
    }
    throw malformed(
      this.path,
      `${what} needs ${bytes} bytes at offset ${this.offset}, and the file ends after ${this.remaining}`,
    );
  }

  /** Counts what the caller will hold in memory; throws beyond 16 MiB in all. */
  keep(bytes: number, what: string): void {
    this.#keptBytes += bytes;
    if (this.#keptBytes > maxKeptBytes) {
      throw malformed(this.path, `its texts and short arrays exceed ${maxKeptBytes} bytes at ${what}`);
    }
  }

  skip(bytes: number, what: string): void {
    this.require(bytes, what);
    if (this.has(bytes)) {
      this.#at += bytes;
      return;
    }
    this.#windowStart = this.offset + bytes;
    this.#window = Buffer.alloc(0);
    this.#at = 0;
  }

  u8(): number {
    return this.#window.readUInt8(this.#step(1));
  }
  i8(): number {
    return this.#window.readInt8(this.#step(1));
  }
  u16(): number {
    return this.#window.readUInt16LE(this.#step(2));
  }
  i16(): number {
    return this.#window.readInt16LE(this.#step(2));
  }
  u32(): number {
    return this.#window.readUInt32LE(this.#step(4));
  }
  i32(): number {
    return this.#window.readInt32LE(this.#step(4));
  }
  f32(): number {
    return this.#window.readFloatLE(this.#step(4));
  }
  u64(): bigint {
    return this.#window.readBigUInt64LE(this.#step(8));
  }
  i64(): bigint {
    return this.#window.readBigInt64LE(this.#step(8));
  }
  f64(): number {
    return this.#window.readDoubleLE(this.#step(8));
  }

  text(bytes: number): string {
    const from = this.#step(bytes);
    return this.#window.toString("utf8", from, from + bytes);
  }

  #step(bytes: number): number {
    const from = this.#at;
    this.#at += bytes;
    return from;
  }
}
