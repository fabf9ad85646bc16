import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { BuildError } from "../errors.ts";

/** What the dynamic section of an ELF library says. */
export interface LibraryFacts {
  /** symbols that other libraries can see */
  exported: string[];
  /** libraries that must be there when it loads */
  needed: string[];
  /** newest version of each family (GLIBC, GLIBCXX, CXXABI, GCC) that it asks for, such as "2.28" */
  versions: Readonly<Record<string, string>>;
  /** folders in which it looks for libraries by itself */
  runPaths: string[];
}

/** Reads a library of any processor, with binutils' readelf. Throws TOOL_MISSING or AUDIT_FAILED. */
export async function readLibrary(path: string): Promise<LibraryFacts> {
  const [symbols, dynamic, versions] = await Promise.all([
    readelf("--dyn-syms", path),
    readelf("--dynamic", path),
    readelf("--version-info", path),
  ]);
  const exported = symbols
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(
      ([index, , , , binding, , section]) =>
        /^\d+:$/.test(index ?? "") && binding !== "LOCAL" && section !== "UND",
    )
    .map(([, , , , , , , name]) => name?.split("@")[0] ?? "")
    .filter((name) => name !== "");
  const listed = (tag: string): string[] =>
    [...dynamic.matchAll(new RegExp(`\\(${tag}\\)[^[]*\\[(.*)\\]`, "g"))].map((match) => match[1]!);
  const newest: Record<string, string> = {};
  for (const [, family, version] of versions.matchAll(/Name: (GLIBC|GLIBCXX|CXXABI|GCC)_([\d.]+)/g)) {
    if (compareVersions(version!, newest[family!] ?? "0") > 0) newest[family!] = version!;
  }
  return {
    exported: exported.sort(),
    needed: listed("NEEDED").sort(),
    versions: newest,
    runPaths: [...listed("RPATH"), ...listed("RUNPATH")],
  };
}

/** Below zero where `a` is older than `b`; parts are compared as numbers. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split(".").map(Number)) as [number[], number[]];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

async function readelf(what: string, path: string): Promise<string> {
  try {
    const environment = { ...process.env, LC_ALL: "C" };
    const { stdout } = await promisify(execFile)("readelf", ["--wide", what, path], {
      env: environment,
      maxBuffer: 1 << 28,
    });
    return stdout;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") {
      throw new BuildError("TOOL_MISSING", "readelf is not installed", "install binutils", { cause });
    }
    const words = (cause as { stderr?: string }).stderr?.trim() || (cause as Error).message;
    throw new BuildError("AUDIT_FAILED", `${path} cannot be read: ${words}`, "give an ELF library", {
      cause,
    });
  }
}
