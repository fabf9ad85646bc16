import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { userFolders, withFileLock } from "@eliza-inference/fetch";
import { type BuildProgress, runLogged } from "./cmake.ts";
import { contentKey } from "./content-key.ts";
import { type Edit, readEdits, updateEditedTree } from "./edits.ts";
import { llamaCpp } from "./pins.ts";
import { fetchSource } from "./source.ts";
import { findTools, requireTools, type Tool } from "./toolchain.ts";

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
  /** programs for tests and benchmarks, by name */
  tool(name: NativeTool): string;
}

const PRISTINE_TOOLS = ["eliza-logits", "eliza-quality"] as const;
const TOOLS = [...PRISTINE_TOOLS, "eliza-stream-loop", "eliza-native-tests"] as const;
export type NativeTool = (typeof TOOLS)[number];

export interface EnsureNativeOptions {
  variant?: NativeVariant;
  onProgress?: BuildProgress;
  onStage?: (line: string) => void;
}

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const EXTENSION = { darwin: "dylib", win32: "dll" }[process.platform as string] ?? "so";

/**
 * The built native library, from the user's cache when nothing that goes into it has changed, else built now.
 * Throws BuildError: TOOL_MISSING, SOURCE_UNAVAILABLE, SOURCE_MISMATCH, EDIT_NOT_UNIQUE, BUILD_FAILED.
 */
export async function ensureNativeLibrary(options: EnsureNativeOptions = {}): Promise<NativeLibrary> {
  const variant = options.variant ?? "edited";
  const cache = join(userFolders().cache, "native");
  const tools = await requireTools();
  const flags = cmakeFlags(variant);
  const library = await locate(variant, tools.values());
  if (isBuilt(library)) return library;

  await mkdir(join(cache, "built"), { recursive: true });
  const onWait = (holder: string): void => options.onStage?.(`waiting for another build (${holder})`);
  await withFileLock(join(cache, `${variant}.lock`), { onWait }, async () => {
    if (isBuilt(library)) return;
    const source = await fetchSource(llamaCpp, {
      folder: join(cache, "sources"),
      ...(options.onStage ? { onProgress: options.onStage } : {}),
    });
    const build = join(cache, "trees", `${variant}-${hashText([ROOT, source, ...flags].join(" "))}`);
    await mkdir(build, { recursive: true });
    const tree = join(build, "source");
    await updateEditedTree(source, tree, variant === "pristine" ? [] : await edits());
    const log = join(build, "build.log");
    await rm(log, { force: true });
    options.onStage?.("configuring");
    const ninja = tools.get("ninja")!.command;
    await runLogged(
      tools.get("cmake")!.command,
      [
        ...["-S", join(ROOT, "native"), "-B", build, "-G", "Ninja", `-DCMAKE_MAKE_PROGRAM=${ninja}`],
        `-DCMAKE_C_COMPILER=${tools.get("C compiler")!.command}`,
        `-DCMAKE_CXX_COMPILER=${tools.get("C++ compiler")!.command}`,
        `-DLLAMA_CPP_DIR=${tree}`,
        ...flags,
      ],
      log,
    );
    options.onStage?.("compiling");
    const targets = variant === "pristine" ? [...PRISTINE_TOOLS] : ["elizainference", "eliza_kv", ...TOOLS];
    await runLogged(
      ninja,
      ["-C", build, "-j", String(availableParallelism()), ...targets],
      log,
      options.onProgress,
    );
    await publish(build, library);
  });
  return library;
}

/** The native library if it is built for these very sources and this machine; never builds. */
export async function findNativeLibrary(
  variant: NativeVariant = "edited",
): Promise<NativeLibrary | undefined> {
  const library = await locate(variant, (await findTools()).tools);
  return isBuilt(library) ? library : undefined;
}

/** Where the library for these sources, this machine and these tools lies, built or not. */
async function locate(variant: NativeVariant, tools: Iterable<Tool>): Promise<NativeLibrary> {
  const key = await contentKey({ pin: llamaCpp, root: ROOT, tools, flags: cmakeFlags(variant) });
  return describeLibrary(variant, key, join(userFolders().cache, "native", "built", `${variant}-${key}`));
}

function isBuilt(library: NativeLibrary): boolean {
  return existsSync(join(library.folder, "build.json"));
}

function cmakeFlags(variant: NativeVariant): string[] {
  return [
    `-DCMAKE_BUILD_TYPE=${variant === "sanitized" ? "RelWithDebInfo" : "Release"}`,
    "-DGGML_NATIVE=ON",
    `-DELIZA_PRISTINE=${variant === "pristine" ? "ON" : "OFF"}`,
    `-DELIZA_SANITIZE=${variant === "sanitized" ? "ON" : "OFF"}`,
  ];
}

function describeLibrary(variant: NativeVariant, key: string, folder: string): NativeLibrary {
  const suffix = process.platform === "win32" ? ".exe" : "";
  return {
    variant,
    key,
    folder,
    library: join(folder, `libelizainference.${EXTENSION}`),
    kernels: join(folder, `libeliza_kv.${EXTENSION}`),
    tool: (name) => join(folder, `${name}${suffix}`),
  };
}

async function publish(build: string, library: NativeLibrary): Promise<void> {
  const work = await mkdtemp(join(dirname(library.folder), ".publish-"));
  try {
    const names = [`libelizainference.${EXTENSION}`, `libeliza_kv.${EXTENSION}`, ...TOOLS];
    for (const name of names) {
      for (const place of ["", "bin"]) {
        const built = join(build, place, name);
        if (existsSync(built)) await copyFile(built, join(work, name));
      }
    }
    await writeFile(
      join(work, "build.json"),
      `${JSON.stringify({ key: library.key, variant: library.variant, source: `${llamaCpp.name} ${llamaCpp.version}`, edits: (await edits()).map(({ id }) => id) }, null, 2)}\n`,
    );
    await rename(work, library.folder);
  } catch (error) {
    await rm(work, { recursive: true, force: true });
    throw error;
  }
}

function edits(): Promise<Edit[]> {
  return readEdits(join(ROOT, "native", "edits", llamaCpp.name));
}

function hashText(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
