import koffi from "koffi";
import { VerifyError } from "../errors.ts";

type Library = ReturnType<typeof koffi.load>;

const HANDLE = "uint64_t";
const OUT = "_Out_ uint64_t *";

const SIGNATURES = {
  cuInit: "uint32_t",
  cuDriverGetVersion: "_Out_ int *",
  cuDeviceGetCount: "_Out_ int *",
  cuDeviceGet: "_Out_ int *, int",
  cuDeviceGetName: "_Out_ uint8_t *, int, int",
  cuDeviceGetAttribute: "_Out_ int *, int, int",
  cuDevicePrimaryCtxRetain: `${OUT}, int`,
  cuDevicePrimaryCtxRelease_v2: "int",
  cuCtxSetCurrent: HANDLE,
  cuCtxSynchronize: "",
  cuModuleLoadData: `${OUT}, const void *`,
  cuModuleUnload: HANDLE,
  cuModuleGetFunction: `${OUT}, ${HANDLE}, str`,
  cuModuleGetGlobal_v2: `${OUT}, ${OUT}, ${HANDLE}, str`,
  cuFuncSetAttribute: `${HANDLE}, int, int`,
  cuMemAlloc_v2: `${OUT}, size_t`,
  cuMemFree_v2: HANDLE,
  cuMemcpyHtoD_v2: `${HANDLE}, const void *, size_t`,
  cuMemcpyDtoH_v2: `_Out_ uint8_t *, ${HANDLE}, size_t`,
  cuMemcpyDtoDAsync_v2: `${HANDLE}, ${HANDLE}, size_t, ${HANDLE}`,
  cuMemsetD8_v2: `${HANDLE}, uint8_t, size_t`,
  cuLaunchKernel: `${HANDLE}, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, ${HANDLE}, uint64_t *, void *`,
  cuEventCreate: `${OUT}, uint32_t`,
  cuEventDestroy_v2: HANDLE,
  cuEventRecord: `${HANDLE}, ${HANDLE}`,
  cuEventElapsedTime: `_Out_ float *, ${HANDLE}, ${HANDLE}`,
} as const;

export interface DriverCall {
  (...args: readonly unknown[]): void;
  /** The same on a worker thread, whose context must be current there: only for calls that need none. */
  async(...args: readonly unknown[]): Promise<void>;
}

export type CudaDriver = { readonly [K in keyof typeof SIGNATURES]: DriverCall };

const RESULTS: Readonly<Record<number, string>> = {
  1: "CUDA_ERROR_INVALID_VALUE",
  2: "CUDA_ERROR_OUT_OF_MEMORY",
  3: "CUDA_ERROR_NOT_INITIALIZED",
  100: "CUDA_ERROR_NO_DEVICE",
  200: "CUDA_ERROR_INVALID_IMAGE",
  201: "CUDA_ERROR_INVALID_CONTEXT",
  209: "CUDA_ERROR_NO_BINARY_FOR_GPU",
  500: "CUDA_ERROR_NOT_FOUND",
  700: "CUDA_ERROR_ILLEGAL_ADDRESS",
  719: "CUDA_ERROR_LAUNCH_FAILED",
};

function bind(library: Library, name: string, parameters: string): DriverCall {
  const native = library.func(`int ${name}(${parameters})`);
  const check = (result: number): void => {
    if (result === 0) return;
    throw new VerifyError(
      result === 100 || result === 3 ? "DEVICE_UNAVAILABLE" : "KERNEL_FAULT",
      `${name} answered ${RESULTS[result] ?? result}`,
      "look at nvidia-smi, and run under compute-sanitizer to find a faulting kernel",
    );
  };
  const call = (...args: readonly unknown[]): void => check(native(...args) as number);
  call.async = (...args: readonly unknown[]): Promise<void> =>
    new Promise((resolve, reject) => {
      native.async(...args, (error: unknown, result: number) => {
        try {
          if (error) throw error;
          check(result);
          resolve();
        } catch (failure) {
          reject(failure);
        }
      });
    });
  return call;
}

/**
 * Binds the CUDA driver. ELIZA_CUDA_LIBRARY names another library, for tests of the calls without a GPU.
 * @throws VerifyError DEVICE_UNAVAILABLE where it is not installed
 */
export function loadCudaDriver(): CudaDriver {
  const name =
    process.env.ELIZA_CUDA_LIBRARY ?? (process.platform === "win32" ? "nvcuda.dll" : "libcuda.so.1");
  let library: Library;
  try {
    library = koffi.load(name);
  } catch (error) {
    throw new VerifyError(
      "DEVICE_UNAVAILABLE",
      `the CUDA driver ${name} cannot be opened`,
      "it comes with NVIDIA's display driver",
      error,
    );
  }
  return Object.fromEntries(
    Object.entries(SIGNATURES).map(([entry, parameters]) => [entry, bind(library, entry, parameters)]),
  ) as unknown as CudaDriver;
}

/** Calls a driver function whose first argument receives a handle. */
export function handleFrom(call: DriverCall, ...args: unknown[]): bigint {
  const out = new BigUint64Array(1);
  call(out, ...args);
  return out[0]!;
}

/** Calls a driver function whose first argument receives an int. */
export function integerFrom(call: DriverCall, ...args: unknown[]): number {
  const out = new Int32Array(1);
  call(out, ...args);
  return out[0]!;
}
