import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { VerifyReport } from "../src/verify.ts";

/** Where this checkout lies; what ELIZA_VERIFY_ROOT says does not count here. */
const CHECKOUT = fileURLToPath(new URL("../../../", import.meta.url)).replace(/[\\/]$/, "");
const PACKAGES = ["verify", "codecs", "build", "fetch"];

/** A copy of what `verify` and the gate read, to break things in. Deleted when disposed. */
export class PlantedTree implements Disposable {
  readonly root = mkdtempSync(join(tmpdir(), "eliza-planted-"));
  /** Files that were changed, and are to be as in the checkout again. */
  readonly #touched = new Set<string>();
  #code = CHECKOUT;

  constructor() {
    for (const folder of ["kernels", "contract", "fixtures"])
      cpSync(join(CHECKOUT, folder), join(this.root, folder), { recursive: true });
    cpSync(join(CHECKOUT, "README.md"), join(this.root, "README.md"));
  }

  path(file: string): string {
    return join(this.root, file);
  }

  /** Gives the tree the harness's own code too, so that it can be changed and is what runs. */
  ownCode(): void {
    this.#code = this.root;
    const skip = /[\\/](dist|node_modules)$/;
    for (const name of PACKAGES) {
      const from = join(CHECKOUT, "packages", name);
      cpSync(from, this.path(`packages/${name}`), { recursive: true, filter: (path) => !skip.test(path) });
    }
    mkdirSync(this.path("node_modules/@eliza-inference"), { recursive: true });
    for (const name of readdirSync(join(CHECKOUT, "node_modules"))) {
      if (name === "@eliza-inference") continue;
      symlinkSync(join(CHECKOUT, "node_modules", name), this.path(`node_modules/${name}`));
    }
    for (const name of PACKAGES) {
      symlinkSync(this.path(`packages/${name}`), this.path(`node_modules/@eliza-inference/${name}`));
    }
  }

  read(file: string): string {
    return readFileSync(this.path(file), "utf8");
  }

  write(file: string, content: string): void {
    this.#touched.add(file);
    mkdirSync(dirname(this.path(file)), { recursive: true });
    writeFileSync(this.path(file), content);
  }

  remove(file: string): void {
    this.#touched.add(file);
    rmSync(this.path(file), { recursive: true });
  }

  /** Replaces text that must be there exactly once. */
  edit(file: string, from: string, to: string): void {
    const parts = this.read(file).split(from);
    if (parts.length !== 2) throw new Error(`${file} has «${from}» ${parts.length - 1} times`);
    this.write(file, parts.join(to));
  }

  /** Changes one bit of a file. */
  flip(file: string): void {
    this.#touched.add(file);
    const bytes = readFileSync(this.path(file));
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(this.path(file), bytes);
  }

  /** Brings every file that was changed back to what the checkout has. */
  restore(): void {
    for (const file of this.#touched) {
      rmSync(this.path(file), { recursive: true, force: true });
      const from = join(CHECKOUT, file);
      if (existsSync(from)) cpSync(from, this.path(file), { recursive: true });
    }
    this.#touched.clear();
  }

  /** Runs a script of the verify package on the tree. */
  run(
    script: string,
    args: readonly string[] = [],
    environment: Readonly<Record<string, string>> = {},
  ): { code: number | null; stdout: string; stderr: string } {
    const command = [...process.execArgv, join(this.#code, "packages/verify/src", script), ...args];
    const result = spawnSync(process.execPath, command, {
      cwd: this.#code,
      env: { ...process.env, ELIZA_VERIFY_ROOT: this.root, ...environment },
      encoding: "utf8",
    });
    return { code: result.status, stdout: result.stdout, stderr: result.stderr };
  }

  verify(...args: string[]): VerifyReport {
    const { stdout, stderr } = this.run("main.ts", ["--json", ...args]);
    try {
      return JSON.parse(stdout) as VerifyReport;
    } catch {
      throw new Error(`verify printed no report: ${stderr}`);
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
