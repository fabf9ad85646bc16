import koffi from "koffi";
import { VerifyError } from "../errors.ts";
import "./structs.ts";

const LIBRARIES: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  win32: ["vulkan-1.dll"],
  darwin: ["libvulkan.1.dylib", "/opt/homebrew/lib/libvulkan.1.dylib", "/usr/local/lib/libvulkan.1.dylib"],
};

type Library = ReturnType<typeof koffi.load>;
type Arguments = readonly unknown[];

export interface EntryPoint {
  /** Calls it; a VkResult other than VK_SUCCESS throws. */
  (...args: Arguments): void;
  /** The same on a worker thread. */
  async(...args: Arguments): Promise<void>;
}

/** Calls an entry point whose last argument receives one handle. */
export function handleFrom(entry: EntryPoint, ...args: unknown[]): bigint {
  const out = new BigUint64Array(1);
  entry(...args, out);
  return out[0]!;
}

const RESULTS: Readonly<Record<number, string>> = {
  [-1]: "VK_ERROR_OUT_OF_HOST_MEMORY",
  [-2]: "VK_ERROR_OUT_OF_DEVICE_MEMORY",
  [-3]: "VK_ERROR_INITIALIZATION_FAILED",
  [-4]: "VK_ERROR_DEVICE_LOST",
  [-6]: "VK_ERROR_LAYER_NOT_PRESENT",
  [-7]: "VK_ERROR_EXTENSION_NOT_PRESENT",
  [-8]: "VK_ERROR_FEATURE_NOT_PRESENT",
  [-9]: "VK_ERROR_INCOMPATIBLE_DRIVER",
  2: "VK_TIMEOUT",
};

const SIGNATURES = {
  vkCreateInstance: "int (VkInstanceCreateInfo *, void *, _Out_ uint64_t *)",
  vkDestroyInstance: "void (uint64_t, void *)",
  vkEnumeratePhysicalDevices: "int (uint64_t, _Inout_ uint32_t *, _Out_ uint64_t *)",
  vkGetPhysicalDeviceMemoryProperties: "void (uint64_t, _Out_ uint8_t *)",
  vkGetPhysicalDeviceQueueFamilyProperties: "void (uint64_t, _Inout_ uint32_t *, _Out_ uint32_t *)",
  vkGetPhysicalDeviceProperties2: "void (uint64_t, void *)",
  vkGetPhysicalDeviceFeatures2: "void (uint64_t, void *)",
  vkCreateDevice: "int (uint64_t, VkDeviceCreateInfo *, void *, _Out_ uint64_t *)",
  vkDestroyDevice: "void (uint64_t, void *)",
  vkGetDeviceQueue: "void (uint64_t, uint32_t, uint32_t, _Out_ uint64_t *)",
  vkCreateBuffer: "int (uint64_t, VkBufferCreateInfo *, void *, _Out_ uint64_t *)",
  vkDestroyBuffer: "void (uint64_t, uint64_t, void *)",
  vkGetBufferMemoryRequirements: "void (uint64_t, uint64_t, _Out_ VkMemoryRequirements *)",
  vkAllocateMemory: "int (uint64_t, VkMemoryAllocateInfo *, void *, _Out_ uint64_t *)",
  vkFreeMemory: "void (uint64_t, uint64_t, void *)",
  vkBindBufferMemory: "int (uint64_t, uint64_t, uint64_t, uint64_t)",
  vkMapMemory: "int (uint64_t, uint64_t, uint64_t, uint64_t, uint32_t, _Out_ uint64_t *)",
  vkCreateShaderModule: "int (uint64_t, VkShaderModuleCreateInfo *, void *, _Out_ uint64_t *)",
  vkDestroyShaderModule: "void (uint64_t, uint64_t, void *)",
  vkCreateDescriptorSetLayout: "int (uint64_t, VkDescriptorSetLayoutCreateInfo *, void *, _Out_ uint64_t *)",
  vkDestroyDescriptorSetLayout: "void (uint64_t, uint64_t, void *)",
  vkCreatePipelineLayout: "int (uint64_t, VkPipelineLayoutCreateInfo *, void *, _Out_ uint64_t *)",
  vkDestroyPipelineLayout: "void (uint64_t, uint64_t, void *)",
  vkCreateComputePipelines:
    "int (uint64_t, uint64_t, uint32_t, VkComputePipelineCreateInfo *, void *, _Out_ uint64_t *)",
  vkDestroyPipeline: "void (uint64_t, uint64_t, void *)",
  vkCreateDescriptorPool: "int (uint64_t, VkDescriptorPoolCreateInfo *, void *, _Out_ uint64_t *)",
  vkDestroyDescriptorPool: "void (uint64_t, uint64_t, void *)",
  vkAllocateDescriptorSets: "int (uint64_t, VkDescriptorSetAllocateInfo *, _Out_ uint64_t *)",
  vkUpdateDescriptorSets: "void (uint64_t, uint32_t, VkWriteDescriptorSet *, uint32_t, void *)",
  vkCreateCommandPool: "int (uint64_t, VkCommandPoolCreateInfo *, void *, _Out_ uint64_t *)",
  vkDestroyCommandPool: "void (uint64_t, uint64_t, void *)",
  vkAllocateCommandBuffers: "int (uint64_t, VkCommandBufferAllocateInfo *, _Out_ uint64_t *)",
  vkBeginCommandBuffer: "int (uint64_t, VkCommandBufferBeginInfo *)",
  vkEndCommandBuffer: "int (uint64_t)",
  vkCmdBindPipeline: "void (uint64_t, int, uint64_t)",
  vkCmdBindDescriptorSets: "void (uint64_t, int, uint64_t, uint32_t, uint32_t, uint64_t *, uint32_t, void *)",
  vkCmdPushConstants: "void (uint64_t, uint64_t, uint32_t, uint32_t, uint32_t, uint32_t *)",
  vkCmdDispatch: "void (uint64_t, uint32_t, uint32_t, uint32_t)",
  vkCmdCopyBuffer: "void (uint64_t, uint64_t, uint64_t, uint32_t, VkBufferCopy *)",
  vkCmdPipelineBarrier:
    "void (uint64_t, uint32_t, uint32_t, uint32_t, uint32_t, VkMemoryBarrier *, uint32_t, void *, uint32_t, void *)",
  vkCmdResetQueryPool: "void (uint64_t, uint64_t, uint32_t, uint32_t)",
  vkCmdWriteTimestamp: "void (uint64_t, uint32_t, uint64_t, uint32_t)",
  vkCreateFence: "int (uint64_t, VkFenceCreateInfo *, void *, _Out_ uint64_t *)",
  vkDestroyFence: "void (uint64_t, uint64_t, void *)",
  vkResetFences: "int (uint64_t, uint32_t, uint64_t *)",
  vkQueueSubmit: "int (uint64_t, uint32_t, VkSubmitInfo *, uint64_t)",
  vkWaitForFences: "int (uint64_t, uint32_t, uint64_t *, uint32_t, uint64_t)",
  vkDeviceWaitIdle: "int (uint64_t)",
  vkCreateQueryPool: "int (uint64_t, VkQueryPoolCreateInfo *, void *, _Out_ uint64_t *)",
  vkDestroyQueryPool: "void (uint64_t, uint64_t, void *)",
  vkGetQueryPoolResults:
    "int (uint64_t, uint64_t, uint32_t, uint32_t, uint64_t, _Out_ uint8_t *, uint64_t, uint32_t)",
} as const;

export type Vulkan = { readonly [K in keyof typeof SIGNATURES]: EntryPoint };

function bind(library: Library, name: string, signature: string): EntryPoint {
  const [result, parameters] = signature.split(" (", 2) as [string, string];
  const native = library.func(`${result} ${name}(${parameters}`);
  const check = (code: number): void => {
    if (code === 0 || result === "void") return;
    throw new VerifyError(
      code === -9 || code === -3 ? "DEVICE_UNAVAILABLE" : "KERNEL_FAULT",
      `${name} answered ${RESULTS[code] ?? code}`,
      "look at the driver's installation (vulkaninfo --summary) and at the device's free memory",
    );
  };
  const call = (...args: Arguments): void => check(native(...args) as number);
  call.async = (...args: Arguments): Promise<void> =>
    new Promise((resolve, reject) => {
      native.async(...args, (error: unknown, code: number) => {
        try {
          if (error) throw error;
          check(code);
          resolve();
        } catch (failure) {
          reject(failure);
        }
      });
    });
  return call;
}

/**
 * Binds the system's Vulkan loader.
 * @throws VerifyError DEVICE_UNAVAILABLE where there is none
 */
export function loadVulkan(): Vulkan {
  const names = LIBRARIES[process.platform] ?? ["libvulkan.so.1"];
  for (const name of names) {
    try {
      const library = koffi.load(name);
      return Object.fromEntries(
        Object.entries(SIGNATURES).map(([entry, signature]) => [entry, bind(library, entry, signature)]),
      ) as unknown as Vulkan;
    } catch (error) {
      if (name !== names.at(-1)) continue;
      throw new VerifyError(
        "DEVICE_UNAVAILABLE",
        `the Vulkan loader ${names.join(" or ")} cannot be opened`,
        "install it (Debian: libvulkan1, and mesa-vulkan-drivers for a software device)",
        error,
      );
    }
  }
  throw new VerifyError("DEVICE_UNAVAILABLE", "no Vulkan loader for this platform", "use another device");
}
