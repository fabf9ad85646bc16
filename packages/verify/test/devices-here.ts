import { hasTool } from "../src/build-cache.ts";
import { VerifyError } from "../src/errors.ts";
import { VulkanDevice } from "../src/vulkan/vulkan-device.ts";

/** What a test that emulates must be skipped for, or false. */
export const NO_CLANG = hasTool("clang++-19") ? false : "needs clang++-19 (Debian: clang-19)";

function whyNoVulkan(): string | false {
  if (!hasTool("glslc")) return "needs glslc (Debian: glslc)";
  try {
    new VulkanDevice()[Symbol.dispose]();
    return false;
  } catch (error) {
    if (error instanceof VerifyError) return `needs a Vulkan device: ${error.message}`;
    throw error;
  }
}

export const NO_VULKAN = whyNoVulkan();
export const NO_CC = hasTool("cc") ? false : "needs a C compiler (Debian: gcc)";
