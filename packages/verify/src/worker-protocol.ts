import type { DeviceDescription, DeviceName } from "./device.ts";
import type { VerifyErrorCode } from "./errors.ts";
import type { Configuration } from "./open-device.ts";
import type { KernelResult } from "./run-kernel.ts";

/** What a worker is told in its first argument, as JSON. */
export interface WorkerTask {
  readonly device: DeviceName;
  readonly configuration: Configuration;
  /** Kernel ids; empty to describe the device only. */
  readonly kernels: readonly string[];
  readonly short: boolean;
  /** Only the cases whose name holds this; empty for all. */
  readonly only: string;
}

/** What a worker sends, in this order: one `opened` or `refused`, then a `started` and a `finished` a kernel. */
export type WorkerMessage =
  | { readonly kind: "opened"; readonly description: DeviceDescription }
  | {
      readonly kind: "refused";
      readonly code: VerifyErrorCode;
      readonly message: string;
      readonly hint: string;
    }
  | { readonly kind: "started"; readonly kernel: string }
  | { readonly kind: "finished"; readonly result: KernelResult; readonly harness: string }
  | { readonly kind: "lacking"; readonly kernel: string; readonly reason: string };
