import { compareVersions, type LibraryFacts } from "./library-facts.ts";

/** What a library may be. */
export interface LibraryRules {
  /** the functions that it must export, and nothing besides */
  functions: readonly string[];
  /** libraries that it may need */
  needed: readonly string[];
  /** newest version that it may ask for, by family; a family that is not named may be any */
  versions?: Readonly<Record<string, string>>;
}

/** What every Linux with glibc has, and the two runtimes of GCC. */
export const GLIBC_LIBRARIES: readonly string[] = [
  ...["libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"],
  ...["ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "ld-linux-riscv64-lp64d.so.1"],
  ...["libgcc_s.so.1", "libstdc++.so.6"],
];

/** The functions that a header of the C ABI declares with ELIZA_API. */
export function declaredFunctions(header: string): string[] {
  return [...header.matchAll(/ELIZA_API[^;(]*?\b(eliza_\w+)\s*\(/g)].map((match) => match[1]!).sort();
}

/** Everything in which a library is not what the rules say; one line a fault. */
export function auditLibrary(facts: LibraryFacts, rules: LibraryRules): string[] {
  const faults: string[] = [];
  for (const name of rules.functions) {
    if (!facts.exported.includes(name)) faults.push(`NOT_EXPORTED ${name}`);
  }
  for (const name of facts.exported) {
    if (!rules.functions.includes(name)) faults.push(`EXPORTED ${name}, which the header does not declare`);
  }
  for (const name of facts.needed) {
    if (!rules.needed.includes(name)) faults.push(`NEEDS ${name}`);
  }
  for (const [family, newest] of Object.entries(rules.versions ?? {})) {
    const found = facts.versions[family];
    if (found !== undefined && compareVersions(found, newest) > 0) {
      faults.push(`TOO_NEW ${family} ${found}, where ${newest} is the newest allowed`);
    }
  }
  for (const path of facts.runPaths) faults.push(`RUN_PATH ${path}`);
  return faults;
}
