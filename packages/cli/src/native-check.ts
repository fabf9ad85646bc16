import { probeNativeLibrary } from "eliza-inference";
import type { Check } from "./checks.ts";
import { failureOf } from "./reporter.ts";

/** Whether the native library is built for these sources, loads, and speaks this package's ABI. */
export async function nativeCheck(): Promise<Check> {
  const name = "native library";
  try {
    const { path, abi, cacheTypes } = await probeNativeLibrary();
    const types = [...new Set(cacheTypes.map((type) => type.name))].join(", ");
    return { name, state: "ok", found: `ABI ${abi}, ${path}; cache types ${types}` };
  } catch (error) {
    const { message, hint } = failureOf(error);
    return { name, state: "missing", found: message, next: hint.replace(/^Run: /, "") };
  }
}
