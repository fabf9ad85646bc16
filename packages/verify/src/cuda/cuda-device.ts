import { readFileSync } from "node:fs";
import { join } from "node:path";
import koffi from "koffi";
import { type Artefact, cached, compile } from "../build-cache.ts";
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
import { ROOT, sourceHash } from "../repository.ts";
import { cudaSymbol, definitionsOf, teamSize } from "../variants.ts";
import { type CudaDriver, handleFrom, integerFrom, loadCudaDriver } from "./driver.ts";

const COMPUTE_CAPABILITY_MAJOR = 75;
const COMPUTE_CAPABILITY_MINOR = 76;
const WARP_SIZE = 10;
/** A function's attribute: bytes of dynamic shared memory that a launch may ask for. */
const MAX_DYNAMIC_SHARED = 8;

/** From ROOT, the CUDA source of a kernel. */
export function cudaPath(stem: string): string {
  return `kernels/cuda/${stem}.cu`;
}

/**
 * Compiles a kernel with nvcc for one architecture, or takes it from the cache.
 * @param architecture "90" for compute capability 9.0
 * @param definitions of a module that is compiled for its formats
 * @throws VerifyError TOOL_MISSING, KERNEL_BUILD
 */
export function compileCubin(
  stem: string,
  architecture: string,
  definitions: readonly string[] = [],
): Artefact {
  const source = cudaPath(stem);
  const flags = [`-arch=sm_${architecture}`, "-cubin", "-O3", "-Werror", "all-warnings", ...definitions];
  return cached(sourceHash(source), flags, "cubin", (target) =>
    compile("nvcc", [...flags, join(ROOT, source), "-o", target], source, "install the CUDA toolkit"),
  );
}

export class CudaBuffer implements DeviceBuffer {
  readonly address: bigint;
  readonly byteLength: number;
  readonly #driver: CudaDriver;
  constructor(driver: CudaDriver, content: number | ArrayBufferView) {
    this.#driver = driver;
    this.byteLength = typeof content === "number" ? content : content.byteLength;
    this.address = handleFrom(driver.cuMemAlloc_v2, Math.max(1, this.byteLength));
    if (typeof content !== "number") this.write(content);
  }
  write(data: ArrayBufferView): void {
    this.#driver.cuMemcpyHtoD_v2(this.address, data, data.byteLength);
  }
  read(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.byteLength);
    this.#driver.cuMemcpyDtoH_v2(bytes, this.address, bytes.byteLength);
    return bytes;
  }
  [Symbol.dispose](): void {
    this.#driver.cuMemFree_v2(this.address);
  }
}

/** The first NVIDIA GPU, through the driver API. */
export class CudaDevice implements Device {
  readonly description: DeviceDescription;
  readonly schedules = 1;
  readonly driver: CudaDriver;
  readonly #device: number;
  readonly #architecture: string;
  readonly #events: readonly [bigint, bigint];
  readonly #modules = new Map<string, bigint>();
  readonly #sources = new Map<string, string>();

  readonly #image: typeof compileCubin;

  /**
   * @param image makes the module of a kernel; nvcc or its cache by default
   * @throws VerifyError DEVICE_UNAVAILABLE without a driver or a GPU
   */
  constructor(image = compileCubin) {
    this.#image = image;
    const driver = loadCudaDriver();
    this.driver = driver;
    driver.cuInit(0);
    this.#device = integerFrom(driver.cuDeviceGet, 0);
    driver.cuCtxSetCurrent(handleFrom(driver.cuDevicePrimaryCtxRetain, this.#device));
    const attribute = (key: number): number => integerFrom(driver.cuDeviceGetAttribute, key, this.#device);
    this.#architecture = `${attribute(COMPUTE_CAPABILITY_MAJOR)}${attribute(COMPUTE_CAPABILITY_MINOR)}`;
    this.#events = [handleFrom(driver.cuEventCreate, 0), handleFrom(driver.cuEventCreate, 0)];
    const name = new Uint8Array(256);
    driver.cuDeviceGetName(name, name.length, this.#device);
    const version = integerFrom(driver.cuDriverGetVersion);
    this.description = {
      name: "cuda",
      backend: "cuda",
      kind: process.env.ELIZA_CUDA_LIBRARY ? "emulated" : "hardware",
      model: new TextDecoder().decode(name.subarray(0, name.indexOf(0))),
      driver: `CUDA ${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}, sm_${this.#architecture}`,
      subgroupWidth: attribute(WARP_SIZE),
      instructionSets: [],
    };
  }

  setSchedule(): void {}

  sources(entry: KernelEntry): string | undefined {
    return this.#sources.get(entry.id);
  }

  buffer(content: number | ArrayBufferView): CudaBuffer {
    return new CudaBuffer(this.driver, content);
  }

  async load(entry: KernelEntry, constants: KernelConstants, formats: readonly RowFormat[]): Promise<Kernel> {
    const ofFormats = entry.constants === "formats";
    if (
      entry.constants !== "none" &&
      !ofFormats &&
      constants.threads !== teamSize(constants.rows) * constants.rows
    ) {
      throw new VerifyError(
        "ARGUMENT_INVALID",
        `${entry.id}: ${constants.threads} threads for ${constants.rows} rows`,
        `the CUDA instance runs with ${teamSize(constants.rows) * constants.rows}`,
      );
    }
    const definitions = definitionsOf(entry, formats);
    const name = [entry.stem, ...definitions].join(" ");
    let module = this.#modules.get(name);
    if (module === undefined) {
      const image = this.#image(entry.stem, this.#architecture, definitions);
      this.#sources.set(entry.id, image.sources);
      module = handleFrom(this.driver.cuModuleLoadData, readFileSync(image.path));
      this.#modules.set(name, module);
    }
    const symbol = cudaSymbol(entry, constants);
    const fn = handleFrom(this.driver.cuModuleGetFunction, module, symbol);
    const threads = ofFormats ? this.#constant(module, `${symbol}_threads`) : constants.threads;
    const shared = ofFormats ? this.#constant(module, `${symbol}_shared`) : 0;
    if (shared > 0) this.driver.cuFuncSetAttribute(fn, MAX_DYNAMIC_SHARED, shared);
    return {
      dispatch: async (groups, buffers, params, repeat = 1) =>
        this.#launch(fn, groups, threads, shared, buffers, params, repeat),
      [Symbol.dispose]: () => {},
    };
  }

  async copyTime(from: DeviceBuffer, to: DeviceBuffer, repeat: number): Promise<number> {
    const source = (from as CudaBuffer).address;
    const target = (to as CudaBuffer).address;
    const length = Math.min(from.byteLength, to.byteLength);
    return this.#timed(() => {
      for (let i = 0; i < repeat; i++) this.driver.cuMemcpyDtoDAsync_v2(target, source, length, 0n);
    });
  }

  [Symbol.dispose](): void {
    for (const module of this.#modules.values()) this.driver.cuModuleUnload(module);
    for (const event of this.#events) this.driver.cuEventDestroy_v2(event);
    this.driver.cuDevicePrimaryCtxRelease_v2(this.#device);
  }

  #launch(
    fn: bigint,
    groups: Extent,
    threads: number,
    shared: number,
    buffers: readonly DeviceBuffer[],
    params: Uint32Array,
    repeat: number,
  ): number {
    const pointers = BigUint64Array.from(buffers, (buffer) => (buffer as CudaBuffer).address);
    const cells = BigUint64Array.from(
      [...pointers.keys()]
        .map((i) => BigInt(koffi.address(pointers.subarray(i, i + 1))))
        .concat(BigInt(koffi.address(params))),
    );
    return this.#timed(() => {
      for (let i = 0; i < repeat; i++) {
        this.driver.cuLaunchKernel(fn, ...groups, threads, 1, 1, shared, 0n, cells, null);
      }
    });
  }

  /** A 32-bit constant of a module. */
  #constant(module: bigint, name: string): number {
    const address = new BigUint64Array(1);
    const bytes = new BigUint64Array(1);
    this.driver.cuModuleGetGlobal_v2(address, bytes, module, name);
    const value = new Uint8Array(4);
    this.driver.cuMemcpyDtoH_v2(value, address[0]!, value.byteLength);
    return new Uint32Array(value.buffer)[0]!;
  }

  #timed(work: () => void): number {
    const [begin, end] = this.#events;
    this.driver.cuEventRecord(begin, 0n);
    work();
    this.driver.cuEventRecord(end, 0n);
    this.driver.cuCtxSynchronize();
    const milliseconds = new Float32Array(1);
    this.driver.cuEventElapsedTime(milliseconds, begin, end);
    return milliseconds[0]!;
  }
}
