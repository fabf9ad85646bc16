/** Writes GGUF files for tests, also ones that no honest writer makes. */
export class GgufBytes {
  #parts: Buffer[] = [];

  u32(value: number): this {
    const part = Buffer.alloc(4);
    part.writeUInt32LE(value);
    return this.raw(part);
  }

  u64(value: number | bigint): this {
    const part = Buffer.alloc(8);
    part.writeBigUInt64LE(BigInt(value));
    return this.raw(part);
  }

  text(value: string): this {
    const part = Buffer.from(value);
    return this.u64(part.length).raw(part);
  }

  raw(part: Uint8Array): this {
    this.#parts.push(Buffer.from(part));
    return this;
  }

  header(tensors: number | bigint, entries: number | bigint, version = 3): this {
    return this.raw(Buffer.from("GGUF")).u32(version).u64(tensors).u64(entries);
  }

  /** A key-value whose value is a string. */
  string(key: string, value: string): this {
    return this.text(key).u32(8).text(value);
  }

  uint32(key: string, value: number): this {
    return this.text(key).u32(4).u32(value);
  }

  strings(key: string, values: readonly string[]): this {
    this.text(key).u32(9).u32(8).u64(values.length);
    for (const value of values) this.text(value);
    return this;
  }

  tensor(name: string, shape: readonly (number | bigint)[], type: number, offset: number | bigint): this {
    this.text(name).u32(shape.length);
    for (const length of shape) this.u64(length);
    return this.u32(type).u64(offset);
  }

  pad(alignment = 32): this {
    const { length } = this.bytes();
    return this.raw(Buffer.alloc((alignment - (length % alignment)) % alignment));
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
