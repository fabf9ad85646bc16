import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { hostTargets } from "@eliza-inference/build/targets";
import { publint } from "publint";
import { libraryUnderTest, picoModel } from "../engine/engine-under-test.ts";
import { install, pack, packAll, type Tarball } from "./pack-and-install.ts";

const PROGRAM = `
import { Inference } from "eliza-inference";
try {
  const inference = await Inference.open(process.argv[2], { cacheTypeK: "turbo4", cacheTypeV: "turbo4", contextSize: 256 });
  let text = "";
  for await (const chunk of inference.stream([{ role: "user", content: "What colour is the sky?" }], { maxTokens: 16 })) text += chunk.text;
  console.log(JSON.stringify({ text, typeK: inference.report().kv.typeK }));
  await inference.close();
} catch ({ code, message, hint }) {
  console.log(JSON.stringify({ code, message, hint }));
}
`;

describe("installed from tarballs, without network, compiler or home", () => {
  let folder = "";
  let app = "";
  let library = "";
  let tarballs: Tarball[] = [];

  const run = (environment: Readonly<Record<string, string>> = {}) => {
    const { stdout, stderr, status, signal } = spawnSync(process.execPath, ["program.js", picoModel], {
      cwd: app,
      encoding: "utf8",
      env: { HOME: join(folder, "home"), PATH: "/nowhere", ...environment },
    });
    assert.notEqual(stdout, "", `${stderr} (${status ?? signal})`);
    return JSON.parse(stdout) as Record<"text" | "typeK" | "code" | "message" | "hint", string | undefined>;
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "eliza-installed-"));
    app = join(folder, "app");
    library = await libraryUnderTest();
    tarballs = await packAll(join(folder, "tarballs"));
    await install(tarballs, app);
    await writeFile(join(app, "program.js"), PROGRAM);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test("open fails with every place that was looked at, and says what to do", () => {
    const { code, message, hint } = run();
    assert.equal(code, "NATIVE_LIBRARY_MISSING");
    assert.match(message ?? "", /ELIZA_INFERENCE_LIBRARY: is not set/);
    for (const { package: name } of hostTargets()) {
      assert.ok(message?.includes(`package ${name}: is not installed`), `${name} in: ${message}`);
    }
    assert.match(message ?? "", /this checkout's build: this is an installed package/);
    assert.match(hint ?? "", /name its file in ELIZA_INFERENCE_LIBRARY/);
  });

  test("a library that ELIZA_INFERENCE_LIBRARY names answers", () => {
    const { text, typeK, message } = run({ ELIZA_INFERENCE_LIBRARY: library });
    assert.equal(typeK, "turbo4", message);
    assert.equal(text?.trim(), "The sky is blue.");
  });

  test("a named library that is not there is an error, and nothing else is tried", () => {
    const { code, message } = run({ ELIZA_INFERENCE_LIBRARY: "/nowhere/lib.so" });
    assert.equal(code, "NATIVE_LIBRARY_MISSING");
    assert.match(message ?? "", /^\/nowhere\/lib\.so does not exist \(ELIZA_INFERENCE_LIBRARY names it\)$/);
  });

  test("the library of a platform package answers; one that cannot be loaded leaves its reason", async () => {
    const target = hostTargets().find(({ variant }) => variant === "cpu");
    assert.ok(target, "this machine has a row in the table of targets");
    const source = join(folder, "platform");
    await mkdir(source);
    await copyFile(library, join(source, basename(library)));
    await writeFile(join(source, "broken.so"), "no library");
    const describe = async (files: string[], version: string): Promise<Tarball> => {
      const libraries = files.map((file) => ({ file, needs: [] }));
      const manifest = { name: target.package, version, elizaInference: { libraries } };
      await writeFile(join(source, "package.json"), JSON.stringify(manifest));
      return pack(source, folder);
    };
    await install([...tarballs, await describe(["broken.so", basename(library)], "0.1.0")], app);
    const whole = run();
    assert.equal(whole.typeK, "turbo4", whole.message);
    await install([...tarballs, await describe(["broken.so"], "0.1.1")], app);
    assert.match(run().message ?? "", new RegExp(`${target.package}, broken\\.so: .*cannot be loaded`));
  });

  test("CommonJS takes the package by import()", async () => {
    await writeFile(
      join(app, "common.cjs"),
      "import('eliza-inference').then(({ Inference }) => console.log(typeof Inference.open));",
    );
    assert.equal(
      execFileSync(process.execPath, ["common.cjs"], { cwd: app, encoding: "utf8" }),
      "function\n",
    );
  });

  test("the tarballs hold what runs, the licence, and nothing of the repository besides", async () => {
    const own = tarballs.filter(({ name }) => /^(@eliza-inference\/|eliza-inference$)/.test(name));
    assert.deepEqual(own.map(({ name }) => name).sort(), [
      ...["@eliza-inference/build", "@eliza-inference/fetch", "eliza-inference"],
    ]);
    for (const { name, contents } of own) {
      const data = name === "eliza-inference" ? ["data/calibration.txt", "schema/bundle.schema.json"] : [];
      for (const path of ["dist/index.js", "dist/index.d.ts", "LICENSE", ...data]) {
        assert.ok(contents.includes(path), `${name} lacks ${path}`);
      }
      const besides = contents.filter((path) => !/^dist\/.*\.(js|d\.ts)$/.test(path));
      assert.deepEqual(besides.sort(), ["LICENSE", ...data, "package.json"].sort(), name);
    }
  });

  test("publint finds no fault, and arethetypeswrong none but that require() cannot load ES modules", async () => {
    for (const { name, file } of tarballs.filter(({ name }) => name.includes("eliza-inference"))) {
      const bytes = new Uint8Array(await readFile(file));
      const { messages } = await publint({ pack: { tarball: bytes.buffer } });
      assert.deepEqual(messages, [], name);
      const checked = await checkPackage(createPackageFromTarballData(bytes));
      assert.ok(checked.types, `${name} has types`);
      const problems = checked.problems.filter(
        (problem) =>
          problem.kind !== "CJSResolvesToESM" &&
          // Before Node 12 there were no export maps.
          !(problem.kind === "NoResolution" && problem.resolutionKind === "node10"),
      );
      assert.deepEqual(problems, [], name);
    }
  });
});
