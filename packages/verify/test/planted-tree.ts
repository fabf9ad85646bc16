import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../src/repository.ts";
import type { VerifyReport } from "../src/verify.ts";

/** A copy of what `verify` and the gate read, to break things in. Deleted when disposed. */
export class PlantedTree implements Disposable {
  readonly root = mkdtempSync(join(tmpdir(), "eliza-planted-"));

  constructor() {
    for (const folder of ["kernels", "contract"])
      cpSync(join(ROOT, folder), join(this.root, folder), { recursive: true });
    cpSync(join(ROOT, "README.md"), join(this.root, "README.md"));
    symlinkSync(join(ROOT, "fixtures"), join(this.root, "fixtures"));
  }

  path(file: string): string {
    return join(this.root, file);
  }

  /** Makes the tree's fixtures its own, so that one can be changed. */
  ownFixtures(): void {
    rmSync(this.path("fixtures"));
    cpSync(join(ROOT, "fixtures"), this.path("fixtures"), { recursive: true });
  }

  /** Replaces text that must be there exactly once. */
  edit(file: string, from: string, to: string): void {
    const text = readFileSync(this.path(file), "utf8");
    const parts = text.split(from);
    if (parts.length !== 2) throw new Error(`${file} has «${from}» ${parts.length - 1} times`);
    writeFileSync(this.path(file), parts.join(to));
  }

  /** Runs a script of this package on the tree. */
  run(script: string, ...args: string[]): { code: number | null; stdout: string; stderr: string } {
    const result = spawnSync(process.execPath, [...process.execArgv, join(ROOT, script), ...args], {
      env: { ...process.env, ELIZA_VERIFY_ROOT: this.root },
      encoding: "utf8",
    });
    return { code: result.status, stdout: result.stdout, stderr: result.stderr };
  }

  verify(...args: string[]): VerifyReport {
    const { stdout, stderr } = this.run("packages/verify/src/main.ts", "--json", "--short", ...args);
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
