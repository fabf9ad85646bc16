import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { userFolders } from "@eliza-inference/fetch";
import { explainAbsence } from "./built-record.ts";
import { type ContentKey, contentKey } from "./content-key.ts";
import { llamaCpp } from "./pins.ts";

/** `edited` is what the package uses; `pristine` builds only the tools, on llama.cpp without our edits. */
export type NativeVariant = "edited" | "pristine" | "sanitized";

export interface NativeLibrary {
  variant: NativeVariant;
  /** hash of everything that went into the build */
  key: string;
  folder: string;
  /** libelizainference; absent in the pristine variant */
  library: string;
  /** the CPU kernels alone, for verify */
  kernels: string;
  /** what tests load: every gate open, and runtimes whose answers a test decides */
  testLibrary: string;
  /** a runtime behind the plugin border, for tests */
  testPlugin: string;
  /** every gate closed, for tests */
  llamaLibrary: string;
  /** programs for tests and benchmarks, by name */
  tool(name: NativeTool): string;
}

export const PRISTINE_TOOLS = [
  "eliza-logits",
  "eliza-quality",
  "eliza-attention-op",
  "eliza-long-context",
] as const;
export const TOOLS = [
  ...PRISTINE_TOOLS,
  "eliza-stream-loop",
  "eliza-native-tests",
  "eliza-plugin-probe",
] as const;
export type NativeTool = (typeof TOOLS)[number];

/** The repository, when this file lies in one. A bundle of CommonJS has no import.meta.url, and lies in none. */
export const ROOT = import.meta.url
  ? fileURLToPath(new URL("../../../", import.meta.url))
  : join(process.execPath, "no-checkout");
export const LIBRARY_EXTENSION = { darwin: "dylib", win32: "dll" }[process.platform as string] ?? "so";

/** cmake gives modules this ending on macOS too */
const MODULE_EXTENSION = process.platform === "win32" ? "dll" : "so";
export const TEST_LIBRARIES = [
  `libelizainference_test.${LIBRARY_EXTENSION}`,
  `libeliza_test_plugin.${MODULE_EXTENSION}`,
  `libelizainference_llama.${LIBRARY_EXTENSION}`,
] as const;
/** runtimes behind the plugin border, which lie beside the library */
export const PLUGINS = [`libelizainference-litert.${LIBRARY_EXTENSION}`] as const;

export function nativeCache(): string {
  return join(userFolders().cache, "native");
}

/**
 * The checkout's library if it is built for these very sources and this machine, or why there is none. It is known
 * by what it is: no compiler is asked, so one need not be there. Never builds.
 */
export async function findNativeLibrary(
  variant: NativeVariant = "edited",
): Promise<{ library: NativeLibrary } | { library?: undefined; isCheckout: boolean; reason: string }> {
  if (!existsSync(join(ROOT, "native", "CMakeLists.txt"))) {
    return { isCheckout: false, reason: "this is an installed package, without the library's sources" };
  }
  const { library, content } = await locate(variant);
  if (isBuilt(library)) return { library };
  return { isCheckout: true, reason: await explainAbsence(join(nativeCache(), "built"), variant, content) };
}

/** Where the library for these sources and this machine lies, built or not. */
export async function locate(
  variant: NativeVariant,
): Promise<{ library: NativeLibrary; content: ContentKey }> {
  const content = await contentKey({ pin: llamaCpp, root: ROOT, flags: cmakeFlags(variant) });
  const folder = join(nativeCache(), "built", `${variant}-${content.key}`);
  const suffix = process.platform === "win32" ? ".exe" : "";
  return {
    content,
    library: {
      variant,
      key: content.key,
      folder,
      library: join(folder, `libelizainference.${LIBRARY_EXTENSION}`),
      kernels: join(folder, `libeliza_kv.${LIBRARY_EXTENSION}`),
      testLibrary: join(folder, TEST_LIBRARIES[0]),
      testPlugin: join(folder, TEST_LIBRARIES[1]),
      llamaLibrary: join(folder, TEST_LIBRARIES[2]),
      tool: (name) => join(folder, `${name}${suffix}`),
    },
  };
}

export function isBuilt(library: NativeLibrary): boolean {
  return existsSync(join(library.folder, "build.json"));
}

export function cmakeFlags(variant: NativeVariant): string[] {
  return [
    `-DCMAKE_BUILD_TYPE=${variant === "sanitized" ? "RelWithDebInfo" : "Release"}`,
    "-DGGML_NATIVE=ON",
    `-DELIZA_PRISTINE=${variant === "pristine" ? "ON" : "OFF"}`,
    `-DELIZA_SANITIZE=${variant === "sanitized" ? "ON" : "OFF"}`,
  ];
}
