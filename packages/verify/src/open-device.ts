import { CpuDevice } from "./cpu/cpu-device.ts";
import { CudaDevice } from "./cuda/cuda-device.ts";
import type { Device, DeviceDescription, DeviceName } from "./device.ts";
import { EmulatedDevice } from "./emulated/emulated-device.ts";
import { VerifyError } from "./errors.ts";
import { MetalDevice } from "./metal/metal-device.ts";
import { VulkanDevice } from "./vulkan/vulkan-device.ts";

/** One way in which a device's kernels are run. */
export interface Configuration {
  /** For example "subgroup 8"; empty where the device has one way only. */
  readonly label: string;
  readonly subgroupWidth?: number;
  readonly isa?: string;
  /** Set before the driver is loaded, which is why every configuration has its own process. */
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Opens a device.
 * @throws VerifyError DEVICE_UNAVAILABLE or TOOL_MISSING, with what is lacking and what to do
 */
export function openDevice(name: DeviceName, configuration: Configuration): Device {
  switch (name) {
    case "cpu":
      return new CpuDevice(configuration.isa);
    case "vulkan":
      return openVulkan(configuration.subgroupWidth);
    case "cuda":
      return new CudaDevice();
    case "metal":
      return new MetalDevice();
    case "emulated-metal":
      return new EmulatedDevice("metal", configuration.subgroupWidth);
    case "emulated-cuda":
      return new EmulatedDevice("cuda", configuration.subgroupWidth);
  }
}

function openVulkan(subgroupWidth: number | undefined): Device {
  const device = new VulkanDevice();
  const found = device.description.subgroupWidth;
  if (subgroupWidth === undefined || subgroupWidth === found) return device;
  device[Symbol.dispose]();
  throw new VerifyError(
    "DEVICE_UNAVAILABLE",
    `asked for a subgroup width of ${subgroupWidth}, the driver has ${found}`,
    "LP_NATIVE_VECTOR_WIDTH sets lavapipe's; other drivers keep their own",
  );
}

// lavapipe's shader cache takes no notice of the width and would hand out code for another one.
const LAVAPIPE_WIDTHS = [4, 8, 16].map((width) => ({
  label: `subgroup ${width}`,
  subgroupWidth: width,
  environment: { LP_NATIVE_VECTOR_WIDTH: String(width * 32), MESA_SHADER_CACHE_DISABLE: "true" },
}));

/** The ways in which a device is verified: every subgroup width or instruction set that it can be given. */
export function configurationsOf(description: DeviceDescription): readonly Configuration[] {
  switch (description.name) {
    case "cpu":
      return description.instructionSets.map((isa) => ({ label: isa, isa }));
    case "vulkan":
      if (description.model.startsWith("llvmpipe")) return LAVAPIPE_WIDTHS;
      return [{ label: `subgroup ${description.subgroupWidth}` }];
    case "emulated-metal":
    case "emulated-cuda":
      return [32, 64].map((subgroupWidth) => ({ label: `subgroup ${subgroupWidth}`, subgroupWidth }));
    default:
      return [{ label: `subgroup ${description.subgroupWidth}` }];
  }
}
