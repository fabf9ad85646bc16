import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { withFileLock } from "@eliza-inference/fetch";
import { readRecord, writeRecord } from "./built-record.ts";
import { type BuildProgress, runLogged } from "./cmake.ts";
import type { ContentKey } from "./content-key.ts";
import { type Edit, readEdits, updateEditedTree } from "./edits.ts";
import {
  cmakeFlags,
  isBuilt,
  LIBRARY_EXTENSION,
  locate,
  type NativeLibrary,
  type NativeVariant,
  nativeCache,
  PLUGINS,
  PRISTINE_TOOLS,
  ROOT,
  TEST_LIBRARIES,
  TOOLS,
} from "./native-library.ts";
import { llamaCpp } from "./pins.ts";
import { fetchSource } from "./source.ts";
import { findTools, requireTools, type Tool, unchangedTools } from "./toolchain.ts";

export interface EnsureNativeOptions {
  variant?: NativeVariant;
  onProgress?: BuildProgress;
  onStage?: (line: string) => void;
}

/**
 * The built native library, from the user's cache when nothing that goes into it has changed, else built now.
 * Throws BuildError: TOOL_MISSING, SOURCE_UNAVAILABLE, SOURCE_MISMATCH, EDIT_NOT_UNIQUE, BUILD_FAILED.
 */
export async function ensureNativeLibrary(options: EnsureNativeOptions = {}): Promise<NativeLibrary> {
  const variant = options.variant ?? "edited";
  const { library, content } = await locate(variant);
  if (await isCurrent(library)) return library;

  const cache = nativeCache();
  const tools = await requireTools();
  const flags = cmakeFlags(variant);
  await mkdir(join(cache, "built"), { recursive: true });
  const onWait = (holder: string): void => options.onStage?.(`waiting for another build (${holder})`);
  await withFileLock(join(cache, `${variant}.lock`), { onWait }, async () => {
    if (await isCurrent(library)) return;
    const source = await fetchSource(llamaCpp, {
      folder: join(cache, "sources"),
      ...(options.onStage ? { onProgress: options.onStage } : {}),
    });
    const build = join(cache, "trees", `${variant}-${hashText([ROOT, source, ...flags].join(" "))}`);
    await mkdir(build, { recursive: true });
    const tree = join(build, "source");
    await updateEditedTree(source, tree, await edits(variant));
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
    const targets =
      variant === "pristine"
        ? [...PRISTINE_TOOLS]
        : [
            ...["elizainference", "elizainference-litert", "eliza_kv"],
            ...["elizainference_test", "elizainference_llama", "eliza_test_plugin"],
            ...TOOLS,
          ];
    await runLogged(
      ninja,
      ["-C", build, "-j", String(availableParallelism()), ...targets],
      log,
      options.onProgress,
    );
    await publish(build, library, content, [...tools.values()]);
  });
  return library;
}

/**
 * Whether the library is built, by the compilers that are here or by ones that are gone. Versions are asked for
 * only where a tool's file is another one than at the build.
 */
async function isCurrent(library: NativeLibrary): Promise<boolean> {
  const record = await readRecord(library.folder);
  if (!record) return false;
  if (await unchangedTools(record.tools)) return true;
  const { tools } = await findTools();
  const differs = (before: Tool): boolean =>
    tools.some(({ name, version }) => name === before.name && version !== before.version);
  if (record.tools.some(differs)) return false;
  const now = record.tools.map((before) => tools.find(({ name }) => name === before.name) ?? before);
  await writeRecord(library.folder, { ...record, tools: now });
  return true;
}

async function publish(
  build: string,
  library: NativeLibrary,
  content: ContentKey,
  tools: Tool[],
): Promise<void> {
  const work = await mkdtemp(join(dirname(library.folder), ".publish-"));
  try {
    const names = [
      `libelizainference.${LIBRARY_EXTENSION}`,
      `libeliza_kv.${LIBRARY_EXTENSION}`,
      ...PLUGINS,
      ...TEST_LIBRARIES,
      ...TOOLS,
    ];
    for (const name of names) {
      for (const place of ["", "bin"]) {
        const built = join(build, place, name);
        if (existsSync(built)) await copyFile(built, join(work, name));
      }
    }
    const source = `${llamaCpp.name} ${llamaCpp.version}`;
    const ids = (await edits(library.variant)).map(({ id }) => id);
    await writeRecord(work, { ...content, variant: library.variant, source, edits: ids, tools });
    // What another compiler made from the same sources gives way; a process that has it open keeps its file.
    if (isBuilt(library)) await rename(library.folder, join(work, "before"));
    await rename(work, library.folder);
    await rm(join(library.folder, "before"), { recursive: true, force: true });
  } catch (error) {
    await rm(work, { recursive: true, force: true });
    throw error;
  }
}

/** Without which the processor faults: what another compiler would make of llama.cpp as it is. */
const COMPILER_FIXES = ["61-amx-tile-config.edit"];

async function edits(variant: NativeVariant): Promise<Edit[]> {
  const all = await readEdits(join(ROOT, "native", "edits", llamaCpp.name));
  return variant === "pristine" ? all.filter(({ id }) => COMPILER_FIXES.includes(id)) : all;
}

function hashText(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
