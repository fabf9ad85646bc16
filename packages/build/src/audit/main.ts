/** `npm run audit:library [-- FILE] [--glibc VERSION]`: what the library shows and needs, and what it may not. */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { BuildError } from "../errors.ts";
import { findNativeLibrary, ROOT } from "../native-library.ts";
import { auditLibrary, declaredFunctions, GLIBC_LIBRARIES } from "./audit-library.ts";
import { readLibrary } from "./library-facts.ts";

try {
  const { values, positionals } = parseArgs({
    options: { glibc: { type: "string" } },
    allowPositionals: true,
  });
  const found = positionals.length === 0 ? await findNativeLibrary() : undefined;
  const path = positionals[0] ?? found?.library?.library;
  if (path === undefined) {
    const reason = found?.library === undefined ? found?.reason : "";
    throw new BuildError("AUDIT_FAILED", `there is no library: ${reason}`, "Run: npm run build:native");
  }
  const facts = await readLibrary(path);
  const header = await readFile(`${ROOT}native/include/eliza-inference-ffi.h`, "utf8");
  const faults = auditLibrary(facts, {
    functions: declaredFunctions(header),
    needed: GLIBC_LIBRARIES,
    ...(values.glibc === undefined ? {} : { versions: { GLIBC: values.glibc } }),
  });
  const versions = Object.entries(facts.versions).map(([family, version]) => `${family} ${version}`);
  console.log(
    `${path}\nexports ${facts.exported.length} symbols; needs ${facts.needed.join(", ")}; ${versions.join(", ")}`,
  );
  for (const fault of faults) console.log(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
} catch (error) {
  if (!(error instanceof BuildError)) throw error;
  console.error(`${error.code}: ${error.message}\n${error.hint}`);
  process.exitCode = 2;
}
