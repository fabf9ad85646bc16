import koffi from "koffi";
import type {
  Device,
  DeviceBuffer,
  DeviceDescription,
  Extent,
  Kernel,
  KernelConstants,
  KernelEntry,
  RowFormat,
} from "../device.ts";
import { VerifyError } from "../errors.ts";
import { inlineSource, sourceHash } from "../repository.ts";
import { specialisation, symbolOf } from "../variants.ts";
import { loadObjectiveC, type ObjectiveC } from "./objective-c.ts";

const DATA_TYPE_UINT = 33;
const COMMAND_BUFFER_COMPLETED = 4;
const STORAGE_SHARED = 0;

/** From ROOT, the Metal source of a kernel. */
export function metalPath(stem: string): string {
  return `kernels/metal/${stem}.metal`;
}

interface MetalBuffer extends DeviceBuffer {
  readonly handle: bigint;
}

/**
 * The system's default Metal device, through the Objective-C runtime. Sources are compiled when they are loaded.
 * Authored against Apple's documentation and held by a mock of the runtime; not yet run on a Mac.
 */
export class MetalDevice implements Device {
  readonly description: DeviceDescription;
  readonly #sources = new Map<string, string>();
  readonly schedules = 1;
  readonly #objc: ObjectiveC;
  readonly #device: bigint;
  readonly #queue: bigint;
  readonly #libraries = new Map<string, bigint>();

  /** @throws VerifyError DEVICE_UNAVAILABLE away from macOS, or on a Mac without a Metal device */
  constructor() {
    const objc = loadObjectiveC();
    this.#objc = objc;
    this.#device = objc.createSystemDefaultDevice();
    if (this.#device === 0n) {
      throw new VerifyError("DEVICE_UNAVAILABLE", "this Mac has no Metal device", "use another device");
    }
    this.#queue = this.#object(this.#device, "newCommandQueue");
    const name = objc.send("object", this.#device, "name");
    this.description = {
      name: "metal",
      backend: "metal",
      kind: process.env.ELIZA_METAL_LIBRARY ? "emulated" : "hardware",
      model: objc.send("text", BigInt(name as bigint), "UTF8String") as string,
      driver: "Metal, sources compiled at run time",
      subgroupWidth: 32,
      instructionSets: [],
    };
  }

  setSchedule(): void {}

  sources(entry: KernelEntry): string | undefined {
    return this.#sources.get(entry.id);
  }

  buffer(content: number | ArrayBufferView): MetalBuffer {
    const byteLength = typeof content === "number" ? content : content.byteLength;
    const handle = BigInt(
      this.#objc.send(
        "objectFromLengthOptions",
        this.#device,
        "newBufferWithLength:options:",
        Math.max(16, byteLength),
        STORAGE_SHARED,
      ) as bigint,
    );
    if (handle === 0n) {
      throw new VerifyError("KERNEL_FAULT", `Metal gave no buffer of ${byteLength} bytes`, "free memory");
    }
    const address = BigInt(this.#objc.send("integer", handle, "contents") as bigint);
    const memory = new Uint8Array(koffi.view(address, byteLength));
    const write = (data: ArrayBufferView): void =>
      memory.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    if (typeof content !== "number") write(content);
    return {
      handle,
      byteLength,
      write,
      read: () => memory.slice() as Uint8Array<ArrayBuffer>,
      [Symbol.dispose]: () => this.#release(handle),
    };
  }

  async load(
    entry: KernelEntry,
    constants: KernelConstants,
    formats: readonly RowFormat[] = [],
  ): Promise<Kernel> {
    const pipeline = this.#objc.withPool(() =>
      this.#pipeline(entry, specialisation(entry, constants, formats)),
    );
    return {
      dispatch: (groups, buffers, params, repeat = 1) =>
        this.#dispatch(
          pipeline,
          entry.sharedBytes(constants),
          constants.threads,
          groups,
          buffers,
          params,
          repeat,
        ),
      [Symbol.dispose]: () => this.#release(pipeline),
    };
  }

  [Symbol.dispose](): void {
    for (const library of this.#libraries.values()) this.#release(library);
    this.#release(this.#queue);
    this.#release(this.#device);
  }

  #object(receiver: bigint, selector: string): bigint {
    return BigInt(this.#objc.send("object", receiver, selector) as bigint);
  }

  #release(object: bigint): void {
    this.#objc.send("none", object, "release");
  }

  #make(className: string): bigint {
    return this.#object(this.#object(this.#objc.getClass(className), "alloc"), "init");
  }

  #string(text: string): bigint {
    const made = this.#objc.send(
      "objectFromString",
      this.#objc.getClass("NSString"),
      "stringWithUTF8String:",
      text,
    );
    return BigInt(made as bigint);
  }

  /** What an NSError says. */
  #reason(error: bigint): string {
    if (error === 0n) return "no reason given";
    const description = this.#object(error, "localizedDescription");
    return this.#objc.send("text", description, "UTF8String") as string;
  }

  #library(entry: KernelEntry): bigint {
    const known = this.#libraries.get(entry.stem);
    if (known !== undefined) return known;
    const path = metalPath(entry.stem);
    this.#sources.set(entry.id, sourceHash(path));
    const options = this.#make("MTLCompileOptions");
    this.#objc.send("setInteger", options, "setFastMathEnabled:", 0);
    const error = new BigUint64Array(1);
    const library = BigInt(
      this.#objc.send(
        "objectFromTwoError",
        this.#device,
        "newLibraryWithSource:options:error:",
        this.#string(inlineSource(path)),
        options,
        error,
      ) as bigint,
    );
    this.#release(options);
    if (library === 0n) {
      throw new VerifyError(
        "KERNEL_BUILD",
        `${path} does not compile: ${this.#reason(error[0]!)}`,
        "mend the source",
      );
    }
    this.#libraries.set(entry.stem, library);
    return library;
  }

  #pipeline(entry: KernelEntry, constants: readonly number[]): bigint {
    const objc = this.#objc;
    const values = this.#make("MTLFunctionConstantValues");
    for (const [index, value] of constants.entries()) {
      const cell = Uint32Array.of(value);
      objc.send("setConstant", values, "setConstantValue:type:atIndex:", cell, DATA_TYPE_UINT, index);
    }
    const error = new BigUint64Array(1);
    const name = this.#string(symbolOf(entry));
    const fn = BigInt(
      objc.send(
        "objectFromTwoError",
        this.#library(entry),
        "newFunctionWithName:constantValues:error:",
        name,
        values,
        error,
      ) as bigint,
    );
    this.#release(values);
    if (fn === 0n) {
      const reason = this.#reason(error[0]!);
      throw new VerifyError("KERNEL_BUILD", `${symbolOf(entry)}: ${reason}`, "mend the source");
    }
    const pipeline = BigInt(
      objc.send(
        "objectFromObjectError",
        this.#device,
        "newComputePipelineStateWithFunction:error:",
        fn,
        error,
      ) as bigint,
    );
    this.#release(fn);
    if (pipeline === 0n) {
      const reason = this.#reason(error[0]!);
      throw new VerifyError("KERNEL_BUILD", `${symbolOf(entry)}: ${reason}`, "mend the source");
    }
    return pipeline;
  }

  async #dispatch(
    pipeline: bigint,
    sharedBytes: number,
    threads: number,
    groups: Extent,
    buffers: readonly DeviceBuffer[],
    params: Uint32Array,
    repeat: number,
  ): Promise<number> {
    const objc = this.#objc;
    const [width, height, depth] = groups;
    const command = objc.withPool(() => {
      const made = this.#object(this.#queue, "commandBuffer");
      this.#object(made, "retain"); // it outlives the pool: the wait happens on another thread
      const encoder = this.#object(made, "computeCommandEncoder");
      objc.send("setObject", encoder, "setComputePipelineState:", pipeline);
      for (const [index, buffer] of buffers.entries()) {
        objc.send(
          "setBuffer",
          encoder,
          "setBuffer:offset:atIndex:",
          (buffer as MetalBuffer).handle,
          0,
          index,
        );
      }
      objc.send("setBytes", encoder, "setBytes:length:atIndex:", params, params.byteLength, buffers.length);
      // Metal wants multiples of 16 bytes here.
      objc.send(
        "setMemoryLength",
        encoder,
        "setThreadgroupMemoryLength:atIndex:",
        (sharedBytes + 15) & ~15,
        0,
      );
      const group = { width: threads, height: 1, depth: 1 };
      for (let i = 0; i < repeat; i++) {
        objc.send(
          "dispatch",
          encoder,
          "dispatchThreadgroups:threadsPerThreadgroup:",
          { width, height, depth },
          group,
        );
      }
      objc.send("none", encoder, "endEncoding");
      objc.send("none", made, "commit");
      return made;
    });
    try {
      await objc.sendAsync("none", command, "waitUntilCompleted");
      const status = Number(objc.send("integer", command, "status"));
      if (status !== COMMAND_BUFFER_COMPLETED) {
        const reason = objc.withPool(() => this.#reason(this.#object(command, "error")));
        throw new VerifyError(
          "KERNEL_FAULT",
          `the command buffer ended in status ${status}: ${reason}`,
          "see Console",
        );
      }
      const begin = objc.send("real", command, "GPUStartTime") as number;
      const end = objc.send("real", command, "GPUEndTime") as number;
      return (end - begin) * 1000;
    } finally {
      this.#release(command);
    }
  }
}
