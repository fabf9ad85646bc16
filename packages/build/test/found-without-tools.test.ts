import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { readRecord, writeRecord } from "../src/built-record.ts";
import { ensureNativeLibrary } from "../src/ensure-native-library.ts";
import { findNativeLibrary, locate, type NativeLibrary } from "../src/native-library.ts";
import { llamaCpp } from "../src/pins.ts";
import { sourcePath } from "../src/source.ts";
import { findTools } from "../src/toolchain.ts";

const TOOLS = ["cc", "c++", "cmake", "ninja"];

describe("a library that is built", {
  skip: process.platform === "win32" && "the tools are shell scripts",
}, () => {
  let folder = "";
  let bin = "";
  let library: NativeLibrary;
  const environment = { ...process.env };

  /** Programs that answer with a version and write down that they were asked. */
  async function installTools(version: string): Promise<void> {
    for (const name of TOOLS) {
      const path = join(bin, name);
      await writeFile(path, `#!/bin/sh\necho ${name} >> ${folder}/asked\necho ${name} ${version}\n`);
      await chmod(path, 0o755);
    }
  }

  async function asked(): Promise<string[]> {
    return (await readFile(join(folder, "asked"), "utf8").catch(() => "")).trim().split("\n").filter(Boolean);
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "eliza-found-"));
    bin = join(folder, "bin");
    await mkdir(bin);
    await symlink("/bin/sh", join(bin, "sh"));
    process.env.ELIZA_INFERENCE_CACHE = join(folder, "cache");
    process.env.PATH = bin;
    delete process.env.CC;
    delete process.env.CXX;
  });
  beforeEach(async () => {
    await installTools("1.0");
    const { content, library: located } = await locate("edited");
    library = located;
    await mkdir(library.folder, { recursive: true });
    const { tools } = await findTools();
    assert.deepEqual(
      tools.map(({ command }) => command),
      TOOLS,
    );
    await writeRecord(library.folder, { ...content, variant: "edited", source: "", edits: [], tools });
    await rm(join(folder, "asked"), { force: true });
  });
  after(async () => {
    process.env = environment;
    await rm(folder, { recursive: true });
  });

  test("is found without a compiler on PATH, by what it is", async () => {
    for (const name of TOOLS) await rm(join(bin, name));
    assert.equal((await findNativeLibrary()).library?.folder, library.folder);
    assert.equal((await ensureNativeLibrary()).folder, library.folder);
  });

  test("is found without asking a tool for its version", async () => {
    await findNativeLibrary();
    await ensureNativeLibrary();
    assert.deepEqual(await asked(), []);
  });

  test("stays when a tool's file changed but not its version, and the new file is remembered", async () => {
    await utimes(join(bin, "cc"), 1, 1);
    await ensureNativeLibrary();
    assert.ok((await asked()).includes("cc"));
    await rm(join(folder, "asked"));
    await ensureNativeLibrary();
    assert.deepEqual(await asked(), []);
    const record = await readRecord(library.folder);
    assert.match(record?.tools.find(({ name }) => name === "C compiler")?.file ?? "", / 1000$/);
  });

  test("is built anew with another compiler", async () => {
    await installTools("2.0");
    // An empty source tree stands in for the pinned one: that the build begins is what can be seen.
    await mkdir(sourcePath(llamaCpp, join(folder, "cache", "native", "sources")), { recursive: true });
    await assert.rejects(ensureNativeLibrary(), { code: "EDIT_NOT_UNIQUE" });
    assert.equal((await findNativeLibrary()).library?.folder, library.folder, "and the old one still serves");
  });

  test("for another processor or from other sources is refused with that reason", async () => {
    const record = await readRecord(library.folder);
    assert.ok(record);
    await rm(library.folder, { recursive: true });
    const reason = async (): Promise<string> => {
      const found = await findNativeLibrary();
      assert.equal(found.library, undefined);
      return found.reason;
    };
    assert.match(await reason(), /^nothing is built in /);
    const other = join(library.folder, "..", "edited-0000000000000000");
    await mkdir(other);
    await writeRecord(other, { ...record, processor: "0", processorName: "Z80" });
    assert.match(await reason(), /built for another processor \(Z80\) than this one/);
    await writeRecord(other, { ...record, sources: "0" });
    assert.match(await reason(), /built from other sources/);
  });
});
