import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { libraryUnderTest, picoModel } from "./engine/engine-under-test.ts";

const repository = fileURLToPath(new URL("../../../", import.meta.url));

const program = `
import { calibrate, Inference, readGguf } from "eliza-inference";
async function main() {
  const [, , model, libraryPath] = process.argv;
  const inference = await Inference.open(model, { libraryPath, contextSize: 256, threads: 1, cacheTypeK: "q4_0" });
  const text = await inference.stream("Once upon a time", { maxTokens: 4 }).text();
  await inference.close();
  const failed = await calibrate(model, { libraryPath }).catch((error) => error);
  console.log(JSON.stringify({ text, code: failed.code, message: failed.message, hint: failed.hint }));
}
main();
`;

describe("a program bundled by esbuild, with koffi left out", () => {
  let folder = "";
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "bundle-"));
    await writeFile(join(folder, "program.ts"), program);
    await mkdir(join(folder, "node_modules", "@koromix"), { recursive: true });
    for (const name of ["koffi", "@koromix"]) {
      await symlink(join(repository, "node_modules", name), join(folder, "node_modules", `${name}`)).catch(
        () => undefined,
      );
    }
  });
  after(() => rm(folder, { recursive: true }));

  for (const format of ["esm", "cjs"] as const) {
    test(`runs as ${format}, and names what it misses of the package`, async () => {
      const outfile = join(folder, `program.${format === "esm" ? "mjs" : "cjs"}`);
      await build({
        entryPoints: [join(folder, "program.ts")],
        outfile,
        format,
        bundle: true,
        platform: "node",
        target: "node20",
        conditions: ["source"],
        nodePaths: [join(repository, "node_modules")],
        external: ["koffi"],
        logLevel: "silent",
      });
      const run = promisify(execFile)(process.execPath, [outfile, picoModel, await libraryUnderTest()], {
        cwd: dirname(outfile),
        env: { ...process.env, NODE_PATH: "" },
      });
      const said = JSON.parse((await run).stdout);
      assert.ok(said.text.length > 0);
      assert.equal(said.code, "PACKAGE_INCOMPLETE", said.message);
      assert.match(said.message, /data\/calibration\.txt/);
      assert.match(said.hint, /--external:eliza-inference/);
    });
  }
});
