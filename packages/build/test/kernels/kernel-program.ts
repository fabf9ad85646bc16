import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { kernelCompileArguments, kernelSources } from "../../src/kernels.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
// GCC 12 counts 32 lanes of a loop over 16 keys that it turns into vectors; AddressSanitizer finds nothing there.
const STRICT = ["-D_GNU_SOURCE", "-g1", "-Werror", "-Wno-stringop-overflow"];

export interface ProgramOptions {
  /** The C compiler; decides the architecture. */
  readonly compiler?: string;
  readonly architecture?: string;
  readonly flags?: readonly string[];
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed: ${error?.message ?? stderr}`);
}

/**
 * Compiles the CPU kernels and a C program (of this folder, or an absolute path) into `folder`; returns its path.
 * Throws with the compiler's words if that fails; any warning is a failure.
 */
export function buildKernelProgram(program: string, folder: string, options: ProgramOptions = {}): string {
  const { compiler = "cc", architecture = process.arch, flags = [] } = options;
  mkdirSync(folder, { recursive: true });
  const kernels = kernelSources(ROOT).map((file) => join(ROOT, file));
  const sources = [...kernels, fileURLToPath(new URL(program, import.meta.url))];
  const objects = sources.map((source, i) => {
    const object = join(folder, `${i}.o`);
    const own = kernelCompileArguments(ROOT, basename(source), architecture);
    run(compiler, [...own, ...STRICT, ...flags, "-c", source, "-o", object]);
    return object;
  });
  const target = join(folder, basename(program, ".c"));
  run(compiler, [...flags, ...objects, "-lm", "-o", target]);
  return target;
}

/** Whether a command can be run at all. */
export function hasCommand(command: string): boolean {
  return spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0;
}

export interface ProgramResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program, with a prefix such as an emulator if given. */
export function runProgram(
  path: string,
  args: readonly string[],
  prefix: readonly string[] = [],
): ProgramResult {
  const [command, ...rest] = [...prefix, path, ...args];
  const { status, stdout, stderr } = spawnSync(command!, rest, { encoding: "utf8", maxBuffer: 64 << 20 });
  return { status, stdout, stderr };
}

/** Whether the C compiler is here and makes a program with these flags: sanitizers need libraries of their own. */
export function compilesWith(flags: readonly string[]): boolean {
  if (!hasCommand("cc")) return false;
  const folder = mkdtempSync(join(tmpdir(), "eliza-compiler-"));
  try {
    const source = join(folder, "empty.c");
    writeFileSync(source, "int main(void) { return 0; }\n");
    return runProgram("cc", [...flags, source, "-o", join(folder, "empty")]).status === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
