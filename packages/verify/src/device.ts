import type { FormatName, FormatOptions, KvFormat } from "@eliza-inference/codecs";

/** The languages that kernels are written in, one folder under kernels/ each. */
export type Backend = "cpu" | "vulkan" | "cuda" | "metal";

/** What `--device` takes. The emulated devices run a backend's sources on the CPU. */
export type DeviceName = Backend | "emulated-metal" | "emulated-cuda";
export const DEVICE_NAMES: readonly DeviceName[] = [
  "cpu",
  "vulkan",
  "cuda",
  "metal",
  "emulated-metal",
  "emulated-cuda",
];

/**
 * `software` is a driver that runs on the CPU (lavapipe); `emulated` is our own compilation for the CPU;
 * `compiled` is a backend's compiler with nothing run.
 */
export type DeviceKind = "hardware" | "software" | "emulated" | "compiled";

export interface DeviceDescription {
  readonly name: DeviceName;
  readonly backend: Backend;
  readonly kind: DeviceKind;
  /** As the driver reports it, for example "NVIDIA H200". */
  readonly model: string;
  readonly driver: string;
  /** Threads that run in step. 1 where the notion does not apply. */
  readonly subgroupWidth: number;
  /** What the CPU kernels can run with here; empty for other devices. */
  readonly instructionSets: readonly string[];
}

export type Extent = readonly [x: number, y: number, z: number];

/** Compile-time choices of a kernel. */
export interface KernelConstants {
  /** Rows that one group of threads works on. */
  readonly rows: number;
  /** Query heads that one group scores against each decoded row; 1 for kernels without heads. */
  readonly heads: number;
  /** Threads in a group. A multiple of `rows`. */
  readonly threads: number;
  /** Values of a row, for kernels whose threadgroup memory depends on it. */
  readonly headDim?: number;
}

/** How a kernel's cases are made and judged: the families of case-families.ts. */
export type FamilyName =
  | "score"
  | "mul_mv"
  | "get_rows"
  | "encode"
  | "decode"
  | "prepare_query"
  | "attention"
  | "fused_attention"
  | "cache_rows"
  | "set_rows";

/** A format that a kernel reads, with every choice of options that its cases are made for. */
export interface KernelFormat {
  readonly name: FormatName;
  readonly options: readonly FormatOptions[];
}

/** One of elizaOS' own fixture files, as a kernel reads it. */
export interface SeedFixture {
  /** Stem of a file under fixtures/. */
  readonly file: string;
  readonly format: FormatName;
  readonly options: FormatOptions;
  /** Names of its fields. Queries go in as they are: elizaOS' are in the basis that the kernel takes. */
  readonly query: string;
  readonly rows: string;
  readonly scores: string;
}

/** A kernel: what it computes on what, its place in the repository, and how it is called. */
export interface KernelEntry {
  readonly id: string;
  readonly family: FamilyName;
  /** The formats of its rows, the one that most cases use first. */
  readonly formats: readonly KernelFormat[];
  /** The basis of the queries that it takes: coded, or original where it turns them itself. */
  readonly queries: "coded" | "original";
  /** What a build may report as available once it has this kernel. */
  readonly capability: string;
  readonly seeds: readonly SeedFixture[];
  /** File stem in every language folder; the entry point is `eliza_<stem>`. */
  readonly stem: string;
  /**
   * `rows` and `heads`, or only `rows`, or none, are template arguments of the entry point. "formats": the kernel is
   * specialised for one pair of K and V formats and one head size; `heads` is 4 or 8, and `rows` 1 where a head's rows
   * lie together, else 0. CUDA compiles a module for each, which says how large its blocks are; the other languages
   * have constants for them (variants.ts).
   */
  readonly constants: "none" | "rows" | "rows-heads" | "formats";
  /** Whether a module of "formats" has one entry point, whatever `heads` and `rows`. */
  readonly oneBody?: boolean;
  /** Languages that it has cases for; all that have the source if left out. */
  readonly languages?: readonly Backend[];
  /** Compute capabilities that the CUDA source needs; all that are compiled for if left out. */
  readonly cudaArchitectures?: readonly string[];
  /** Storage buffers, in binding order, before the parameters. */
  readonly buffers: readonly string[];
  /** Unsigned 32-bit parameters, in order. */
  readonly params: readonly string[];
  /** Bytes of threadgroup memory that Metal is told to give. */
  readonly sharedBytes: (constants: KernelConstants) => number;
}

export interface DeviceBuffer extends Disposable {
  readonly byteLength: number;
  write(data: ArrayBufferView): void;
  /** Reads `byteLength` bytes from the start. */
  read(): Uint8Array<ArrayBuffer>;
}

export interface Kernel extends Disposable {
  /**
   * Runs the kernel `repeat` times in one submission and waits.
   * @returns milliseconds of device time for all repeats; wall-clock where the device has no timer
   * @throws VerifyError KERNEL_FAULT when the device reports one (a divergent barrier, a lost device)
   */
  dispatch(
    groups: Extent,
    buffers: readonly DeviceBuffer[],
    params: Uint32Array,
    repeat?: number,
  ): Promise<number>;
}

/** The format of the rows in one buffer of a kernel. */
export interface RowFormat {
  readonly codec: KvFormat;
  /** What `codec` was made with. */
  readonly options: FormatOptions;
}

export interface Device extends Disposable {
  readonly description: DeviceDescription;
  /**
   * @param formats of the rows, for devices whose kernels are made for one format
   * @throws VerifyError KERNEL_BUILD when the source does not compile
   */
  load(entry: KernelEntry, constants: KernelConstants, formats: readonly RowFormat[]): Promise<Kernel>;
  /** Why this device has nothing that reads such rows, or undefined. */
  lacks?(entry: KernelEntry, formats: readonly RowFormat[]): string | undefined;
  /** True if this device takes queries prepared for such rows in fp16: cases then have such queries. */
  halfQueries?(format: RowFormat): boolean;
  /**
   * Hash of the sources that a loaded kernel was made from, as what was loaded says itself (evidence.ts computes the
   * same for the tree); undefined where it cannot say, which gives no evidence.
   */
  sources(entry: KernelEntry): string | undefined;
  buffer(content: number | ArrayBufferView): DeviceBuffer;
  /** Milliseconds of device time that `repeat` copies from one buffer to another take: what memory allows here. */
  copyTime?(from: DeviceBuffer, to: DeviceBuffer, repeat: number): Promise<number>;
  /** Schedules that each case runs under; results must agree to the bit. Only emulated devices have several. */
  readonly schedules: number;
  setSchedule(index: number): void;
}
