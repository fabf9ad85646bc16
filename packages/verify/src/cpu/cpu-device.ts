import { cpus } from "node:os";
import koffi from "koffi";
import type {
  Device,
  DeviceBuffer,
  DeviceDescription,
  Kernel,
  KernelConstants,
  KernelEntry,
  RowFormat,
} from "../device.ts";
import { VerifyError } from "../errors.ts";
import { HostBuffer } from "../host-buffer.ts";
import { buildCpuLibrary } from "./build-library.ts";
import { attentionOf, type CpuAttention } from "./cpu-attention.ts";
import { CPU_RUNS, type CpuFormat, type Native } from "./cpu-runs.ts";
import { type LibraryBuild, readLibraryBuild } from "./library-build.ts";

const encodeType = koffi.proto("void eliza_kv_encode(const float *row, _Inout_ uint8_t *bytes, int64_t n)");
const decodeType = koffi.proto("void eliza_kv_decode(uint64_t bytes, _Out_ float *row, int64_t n)");
const prepareType = koffi.proto(
  "void eliza_kv_prepare(const float *query, _Out_ float *prepared, int64_t n)",
);
const dotType = koffi.proto(
  "void eliza_kv_dot(int n, _Out_ float *score, size_t bs, uint64_t bytes, size_t bx, const void *prepared, size_t by, int nrc)",
);

type Library = ReturnType<typeof koffi.load>;

const INSTRUCTION_SETS = ["scalar", "avx2", "avx512", "neon"];

/** The cache name under which the library has a format; its tile follows from the head size. */
function cacheName({ codec, options }: RowFormat): string {
  return options.projection === "iid" ? `${codec.name}_iid` : codec.name;
}

/**
 * The CPU kernels, libeliza_kv. A kernel of the other languages is here a loop over its rows: scores and products
 * through the format's dot, get_rows through its decoder.
 */
export class CpuDevice implements Device {
  readonly description: DeviceDescription;
  readonly schedules = 1;
  readonly #find: (cacheName: string, headDim: number) => unknown;
  readonly #packQuery: Native;
  readonly #attention: CpuAttention;
  readonly #build: LibraryBuild;
  /** Held: a library that is collected is unloaded, and its functions with it. */
  readonly library: Library;

  /**
   * @param isa "scalar", "avx2", … or undefined for the best of this processor
   * @param libraryPath a built libeliza_kv; without one the kernels are compiled here
   * @throws VerifyError DEVICE_UNAVAILABLE, TOOL_MISSING, KERNEL_BUILD
   */
  constructor(isa?: string, libraryPath: string | undefined = process.env.ELIZA_KV_LIBRARY) {
    const library = CpuDevice.#open(libraryPath ?? buildCpuLibrary());
    this.library = library;
    this.#build = readLibraryBuild(library);
    const setIsa = library.func("bool eliza_kv_set_isa(str)");
    if (isa !== undefined && !setIsa(isa)) {
      throw new VerifyError(
        "DEVICE_UNAVAILABLE",
        `this processor or build has no ${isa}`,
        "leave the choice out",
      );
    }
    this.#find = library.func("const eliza_kv_format *eliza_kv_format_for_head(str, int32_t)");
    this.#packQuery = library.func(
      "void eliza_kv_qjl1_256_pack_query(float *sketch, _Out_ uint8_t *prepared, int64_t n)",
    ) as unknown as Native;
    this.#attention = attentionOf(library);
    const path = library.func("str eliza_kv_isa()")() as string;
    const instructionSets = isa === undefined ? INSTRUCTION_SETS.filter((name) => setIsa(name)) : [isa];
    setIsa(path);
    this.description = {
      name: "cpu",
      backend: "cpu",
      kind: "hardware",
      model: cpus()[0]?.model.trim() || process.arch,
      driver: `libeliza_kv, ${this.#build.compiler}`,
      subgroupWidth: 1,
      instructionSets,
    };
  }

  static #open(path: string): Library {
    try {
      return koffi.load(path);
    } catch (error) {
      throw new VerifyError(
        "DEVICE_UNAVAILABLE",
        `${path} cannot be opened`,
        "build it: npm run build:native",
        error,
      );
    }
  }

  /** The library's functions for rows of this format, or undefined where it has none. */
  #format(format: RowFormat): CpuFormat | undefined {
    const { codec } = format;
    const { headDim, rotatedDim } = codec;
    const found = this.#find(cacheName(format), headDim);
    if (found === null || format.options.residual) return undefined;
    const fields = koffi.decode(found, "eliza_kv_format") as Record<string, unknown>;
    return {
      headDim,
      rowBytes: codec.rowBytes,
      rotatedDim,
      packQuery: rotatedDim === headDim ? undefined : this.#packQuery,
      encode: koffi.decode(fields.encode, encodeType) as Native,
      encodeReference: koffi.decode(fields.encode_reference, encodeType) as Native,
      decode: koffi.decode(fields.decode, decodeType) as Native,
      decodeRotated: koffi.decode(fields.decode_rotated, decodeType) as Native,
      prepareQuery: koffi.decode(fields.prepare_query, prepareType) as Native,
      dot: koffi.decode(fields.dot, dotType) as Native,
      type: fields.type as number,
      attention: this.#attention,
    };
  }

  setSchedule(): void {}

  lacks(entry: KernelEntry, formats: readonly RowFormat[]): string | undefined {
    if (!CPU_RUNS[entry.family]) return `the CPU library does not compute ${entry.family}`;
    const missing = formats.find((format) => this.#format(format) === undefined);
    if (!missing) return undefined;
    if (missing.options.residual) return "the CPU library has no residual";
    const { name, headDim } = missing.codec;
    const anywhere = [128, 512].some((size) => this.#find(cacheName(missing), size) !== null);
    return `the CPU library has no ${name}${anywhere ? ` for heads of ${headDim} values` : ""}`;
  }

  halfQueries({ codec }: RowFormat): boolean {
    return codec.rotatedDim !== codec.headDim;
  }

  sources(): string | undefined {
    return this.#build.vouched ? this.#build.sources : undefined;
  }

  buffer(content: number | ArrayBufferView): DeviceBuffer {
    return new HostBuffer(content);
  }

  async load(
    entry: KernelEntry,
    _constants: KernelConstants,
    formats: readonly RowFormat[],
  ): Promise<Kernel> {
    const run = CPU_RUNS[entry.family]!;
    const native = formats.map((format) => this.#format(format)!);
    return {
      dispatch: async (_groups, buffers, params, repeat = 1) => {
        const bytes = buffers.map((buffer) => (buffer as HostBuffer).bytes);
        const started = performance.now();
        for (let i = 0; i < repeat; i++) run(entry, native, bytes, params);
        return performance.now() - started;
      },
      [Symbol.dispose]: () => {},
    };
  }

  [Symbol.dispose](): void {}
}
