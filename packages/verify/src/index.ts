export { type KernelSpeed, measureKernels, run as benchKernels } from "./bench-kernels.ts";
export {
  type Backend,
  DEVICE_NAMES,
  type DeviceDescription,
  type DeviceKind,
  type DeviceName,
} from "./device.ts";
export { VerifyError, type VerifyErrorCode } from "./errors.ts";
export { type Evidence, type KernelEvidence, readEvidence, writeEvidence } from "./evidence.ts";
export { KERNELS, kernelById } from "./kernels.ts";
export { reportText } from "./report-table.ts";
export type { KernelResult } from "./run-kernel.ts";
export { runVerify, VERIFY_USAGE } from "./run-verify.ts";
export {
  type DeviceReport,
  type KernelVerdict,
  type VerifyOptions,
  type VerifyReport,
  verify,
} from "./verify.ts";
