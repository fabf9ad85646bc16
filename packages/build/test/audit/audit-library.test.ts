import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { auditLibrary, declaredFunctions, GLIBC_LIBRARIES } from "../../src/audit/audit-library.ts";
import { compareVersions, readLibrary } from "../../src/audit/library-facts.ts";
import { ensureNativeLibrary } from "../../src/index.ts";
import { hasCommand } from "../kernels/kernel-program.ts";

const HEADER = new URL("../../../../native/include/eliza-inference-ffi.h", import.meta.url);
const rules = (...functions: string[]) => ({ functions, needed: GLIBC_LIBRARIES });
const skip =
  process.platform !== "linux" || !hasCommand("readelf") || !hasCommand("cc")
    ? "no Linux with binutils and cc"
    : false;

describe("the audit of a library", { skip }, () => {
  let folder = "";
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "eliza-audit-"));
  });
  after(() => rm(folder, { recursive: true }));

  async function compile(source: string, ...flags: string[]): Promise<string> {
    await writeFile(join(folder, "a.c"), source);
    const path = join(folder, "a.so");
    execFileSync("cc", ["-shared", "-fPIC", "-o", path, join(folder, "a.c"), ...flags]);
    return path;
  }

  test("names what is missing and what nobody declared, functions and data alike", async () => {
    const facts = await readLibrary(
      await compile(
        "int eliza_one(void) { return 1; }\nint stray = 2;\nstatic int hidden(void) { return 3; }\nint (*use)(void) = hidden;",
      ),
    );
    assert.deepEqual(auditLibrary(facts, rules("eliza_one", "eliza_two")), [
      "NOT_EXPORTED eliza_two",
      "EXPORTED stray, which the header does not declare",
      "EXPORTED use, which the header does not declare",
    ]);
  });

  test("names libraries and folders that another machine need not have", async () => {
    const library = await compile("int other(void) { return 1; }", "-Wl,-soname,libother.so.1");
    const named = join(folder, "libother.so");
    execFileSync("cp", [library, named]);
    const user = await compile(
      "int other(void); int one(void) { return other(); }",
      named,
      "-Wl,-rpath,/home/me",
    );
    assert.deepEqual(auditLibrary(await readLibrary(user), rules("one")), [
      "NEEDS libother.so.1",
      "RUN_PATH /home/me",
    ]);
  });

  test("names a C library that is newer than the target's", async () => {
    const facts = await readLibrary(
      await compile("#include <stdlib.h>\nvoid *one(void) { return malloc(1); }"),
    );
    assert.deepEqual(auditLibrary(facts, { ...rules("one"), versions: { GLIBC: "99.0" } }), []);
    assert.match(
      auditLibrary(facts, { ...rules("one"), versions: { GLIBC: "2.0" } }).join(),
      /^TOO_NEW GLIBC 2\.\d/,
    );
    assert.ok(compareVersions("2.28", "2.4") > 0 && compareVersions("2.28", "2.28.1") < 0);
  });

  test("what is no library is an error", async () => {
    await writeFile(join(folder, "text.so"), "text");
    await assert.rejects(readLibrary(join(folder, "text.so")), { code: "AUDIT_FAILED" });
  });

  test("the built library exports the C ABI alone and needs nothing unusual", async () => {
    const functions = declaredFunctions(await readFile(HEADER, "utf8"));
    assert.ok(functions.includes("eliza_inference_create") && functions.includes("eliza_inference_llm_poll"));
    const path = process.env.ELIZA_INFERENCE_LIBRARY || (await ensureNativeLibrary()).library;
    assert.deepEqual(auditLibrary(await readLibrary(path), rules(...functions)), []);
  });
});
