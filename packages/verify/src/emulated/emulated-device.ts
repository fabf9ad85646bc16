import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import koffi from "koffi";
import { cached, compile, hasTool } from "../build-cache.ts";
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
import { HostBuffer } from "../host-buffer.ts";
import { inlineSource, ROOT, sha256, sourceHash } from "../repository.ts";
import { cudaSymbol, cudaSymbols, definitionsOf, specialisation, symbolOf } from "../variants.ts";
import { cudaAsCxx } from "./cuda-source.ts";
import { metalAsCxx } from "./metal-source.ts";

const COMPILER = "clang++-19";
const INSTALL = "install clang 19 (Debian: clang-19)";
// Each operation rounds on its own, as the arithmetic of the formats is specified; UBSan traps on a bad index.
const FLAGS = [
  "-std=c++20",
  "-O2",
  "-shared",
  "-fPIC",
  "-ffp-contract=off",
  "-fexcess-precision=16",
  "-fsanitize=bounds,shift",
  "-fsanitize-trap=all",
  "-Wall",
  "-Werror",
  "-Wno-unknown-attributes",
  "-Wno-pass-failed",
  "-Wno-unused-function",
  "-Wno-unused-const-variable",
];
/** Forward, backward, and two seeds: a missing barrier shows as results that differ between them. */
const ORDERS = [0, 1, 99, 12345];
const MESSAGE_BYTES = 256;

function shimFolder(): string {
  const packed = join(ROOT, "emulation");
  return existsSync(packed) ? packed : join(dirname(fileURLToPath(import.meta.url)), "../../emulation");
}

export type EmulatedBackend = "metal" | "cuda";

/** From ROOT, the source of a kernel. */
export function emulatedSource(backend: EmulatedBackend, stem: string): string {
  return `kernels/${backend}/${stem}.${backend === "metal" ? "metal" : "cu"}`;
}

type Emulate = (
  index: number,
  buffers: bigint[] | BigUint64Array,
  shared: Uint8Array,
  sharedBytes: number,
  constants: Uint32Array,
  grid: Uint32Array,
  threads: number,
  width: number,
  order: number,
  message: Uint8Array,
  capacity: number,
) => number;

/** Runs the sources of a backend on the CPU: clang++ over a small shim, each GPU thread a fiber. */
export class EmulatedDevice implements Device {
  readonly description: DeviceDescription;
  readonly schedules = ORDERS.length;
  readonly #backend: EmulatedBackend;
  #order = 0;
  readonly #sources = new Map<string, string>();

  /**
   * @param subgroupWidth 32 or 64
   * @throws VerifyError TOOL_MISSING without clang++-19
   */
  constructor(backend: EmulatedBackend, subgroupWidth = 32) {
    if (!hasTool(COMPILER)) throw new VerifyError("TOOL_MISSING", `${COMPILER} is not installed`, INSTALL);
    this.#backend = backend;
    this.description = {
      name: `emulated-${backend}`,
      backend,
      kind: "emulated",
      model: `${backend === "metal" ? "Metal" : "CUDA"} source on this CPU (${process.arch})`,
      driver: COMPILER,
      subgroupWidth,
      instructionSets: [],
    };
  }

  sources(entry: KernelEntry): string | undefined {
    return this.#sources.get(entry.id);
  }

  setSchedule(index: number): void {
    this.#order = ORDERS[index] ?? 0;
  }

  buffer(content: number | ArrayBufferView): DeviceBuffer {
    return new HostBuffer(content);
  }

  async load(entry: KernelEntry, constants: KernelConstants, formats: readonly RowFormat[]): Promise<Kernel> {
    const symbols = entryPoints(this.#backend, entry);
    const symbol = this.#backend === "cuda" ? cudaSymbol(entry, constants) : symbols[0]!;
    const index = symbols.indexOf(symbol);
    if (index < 0) {
      throw new VerifyError(
        "KERNEL_BUILD",
        `${entry.stem}.cu has no ${symbol}`,
        "instantiate it for these rows and heads",
      );
    }
    const library = koffi.load(
      buildEmulated(this.#backend, entry, this.#backend === "cuda" ? definitionsOf(entry, formats) : []),
    );
    this.#sources.set(entry.id, library.func("str emulated_sources()")() as string);
    const emulate = library.func(
      "int emulate(uint32_t, uint64_t *, void *, size_t, uint32_t *, uint32_t *, uint32_t, uint32_t, uint32_t, _Out_ uint8_t *, size_t)",
    ) as unknown as Emulate;
    const threads =
      this.#backend === "cuda" && entry.constants === "formats"
        ? (library.func("uint32_t emulated_threads(uint32_t)")(index) as number)
        : constants.threads;
    const sharedBytes = entry.sharedBytes(constants);
    const shared = new Uint8Array(Math.max(16, sharedBytes));
    const values = Uint32Array.from(specialisation(entry, constants, formats));
    return {
      dispatch: async (groups, buffers, params, repeat = 1) => {
        const started = performance.now();
        for (let i = 0; i < repeat; i++) {
          this.#run(emulate, index, entry, buffers, params, shared, sharedBytes, values, groups, threads);
        }
        return performance.now() - started;
      },
      [Symbol.dispose]: () => {}, // koffi keeps libraries open: their code may be on a fiber's stack
    };
  }

  [Symbol.dispose](): void {}

  #run(
    emulate: Emulate,
    index: number,
    entry: KernelEntry,
    buffers: readonly DeviceBuffer[],
    params: Uint32Array,
    shared: Uint8Array,
    sharedBytes: number,
    constants: Uint32Array,
    groups: Extent,
    threads: number,
  ): void {
    const memories = buffers.map((buffer) => (buffer as HostBuffer).bytes);
    // CUDA takes a pointer to each argument, Metal each buffer itself; the parameters come last in both.
    const addresses = BigUint64Array.from([...memories, params], (memory) => BigInt(koffi.address(memory)));
    const cells =
      this.#backend === "metal"
        ? addresses
        : addresses.map((_, i) => BigInt(koffi.address(addresses.subarray(i, i + 1))));
    if (this.#backend === "cuda") cells[cells.length - 1] = addresses.at(-1)!;
    const message = new Uint8Array(MESSAGE_BYTES);
    const grid = Uint32Array.from(groups);
    const failed = emulate(
      index,
      cells,
      shared,
      sharedBytes,
      constants,
      grid,
      threads,
      // Such a kernel is written for warps, which have 32 threads on every NVIDIA GPU.
      this.#backend === "cuda" && entry.constants === "formats" ? 32 : this.description.subgroupWidth,
      this.#order,
      message,
      MESSAGE_BYTES,
    );
    if (failed) {
      const text = new TextDecoder().decode(message.subarray(0, message.indexOf(0)));
      throw new VerifyError("KERNEL_FAULT", `${entry.id}: ${text}`, "look at the kernel's barriers");
    }
  }
}

/**
 * Compiles a kernel's source for the CPU, or takes it from the cache.
 * @returns the path of a library whose `emulate` runs the kernel's entry points by index
 */
export function buildEmulated(
  backend: EmulatedBackend,
  entry: KernelEntry,
  definitions: readonly string[] = [],
): string {
  const symbols = entryPoints(backend, entry);
  const path = emulatedSource(backend, entry.stem);
  const shim = shimFolder();
  const shimText = readdirSync(shim, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name), "utf8"))
    .sort();
  const sources = sourceHash(path);
  const rest = [sha256(shimText.join("\0")), process.arch, ...FLAGS, ...symbols, ...definitions];
  const artefact = cached(sources, rest, "so", (target) => {
    const unit = `${target}.cc`;
    const text =
      backend === "metal"
        ? metalAsCxx(inlineSource(path), symbols[0]!, path)
        : cudaAsCxx(join(ROOT, path), symbols, entry.constants === "formats");
    writeFileSync(unit, `${text}\nextern "C" const char *emulated_sources() { return "${sources}"; }\n`);
    try {
      const includes = [`-I${shim}`, `-I${join(shim, backend)}`];
      compile(COMPILER, [...FLAGS, ...definitions, ...includes, unit, "-o", target], path, INSTALL);
    } finally {
      rmSync(unit, { force: true });
    }
  });
  return artefact.path;
}

function entryPoints(backend: EmulatedBackend, entry: KernelEntry): string[] {
  return backend === "cuda" ? cudaSymbols(entry) : [symbolOf(entry)];
}
