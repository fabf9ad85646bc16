import type { DeviceBuffer } from "./device.ts";

/** A buffer in this process's memory, for devices that are the CPU. */
export class HostBuffer implements DeviceBuffer {
  readonly bytes: Uint8Array<ArrayBuffer>;
  constructor(content: number | ArrayBufferView) {
    this.bytes = new Uint8Array(typeof content === "number" ? content : content.byteLength);
    if (typeof content !== "number") this.write(content);
  }
  get byteLength(): number {
    return this.bytes.byteLength;
  }
  write(data: ArrayBufferView): void {
    this.bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  }
  read(): Uint8Array<ArrayBuffer> {
    return this.bytes.slice();
  }
  [Symbol.dispose](): void {}
}
