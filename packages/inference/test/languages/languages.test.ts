import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Inference } from "../../src/inference.ts";
import { libraryUnderTest, picoModel } from "../engine/engine-under-test.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const examples = join(root, "examples");
const headers = join(root, "native", "include");
const prompt = "Once upon a time there was a café by the sea, and in it";
const tokens = 24;

/** A program's standard output; its failure is the test's. */
function output(command: string, args: string[]): string {
  const { stdout, stderr, status, error } = spawnSync(command, args, { encoding: "utf8" });
  assert.equal(status, 0, `${command}: ${error?.message ?? stderr}`);
  return stdout;
}

function has(t: TestContext, command: string, args = ["--version"]): boolean {
  if (spawnSync(command, args).status === 0) return true;
  t.skip(`${command} is not installed`);
  return false;
}

describe("other languages stream the same greedy text as Node", () => {
  let library: string;
  let folder: string;
  let expected: string;
  before(async () => {
    library = await realpath(await libraryUnderTest());
    folder = await mkdtemp(join(tmpdir(), "eliza-languages-"));
    await using inference = await Inference.open(picoModel, { contextSize: 512, libraryPath: library });
    expected = await inference.stream(prompt, { maxTokens: tokens }).text();
    assert.ok(expected.length > tokens);
  });
  after(() => rm(folder, { recursive: true, force: true }));
  const linking = (): string[] => [library, `-Wl,-rpath,${dirname(library)}`];

  test("C", (t) => {
    if (!has(t, "cc")) return;
    const program = join(folder, "stream");
    const source = join(examples, "c", "stream.c");
    output("cc", [
      "-std=c11",
      "-Wall",
      "-Wextra",
      "-Werror",
      `-I${headers}`,
      source,
      "-o",
      program,
      ...linking(),
    ]);
    assert.equal(output(program, [picoModel, prompt, String(tokens)]), expected);
    const missing = spawnSync(program, ["/nowhere.gguf", prompt, "4"], { encoding: "utf8" });
    assert.equal(missing.status, 1);
    assert.match(missing.stderr, /^MODEL_NOT_FOUND: /);
  });

  test("Python", (t) => {
    if (!has(t, "python3")) return;
    const source = join(examples, "python", "stream.py");
    assert.equal(output("python3", [source, library, picoModel, prompt, String(tokens)]), expected);
    const missing = spawnSync("python3", [source, library, "/nowhere.gguf", prompt, "4"], {
      encoding: "utf8",
    });
    assert.match(missing.stderr, /InferenceError: MODEL_NOT_FOUND: /);
  });

  test("Java", (t) => {
    if (!has(t, "javac") || !has(t, "cc")) return;
    const settings = spawnSync("java", ["-XshowSettings:properties", "-version"], {
      encoding: "utf8",
    }).stderr;
    const home = /java\.home = (.*)/.exec(settings)?.[1]?.trim() ?? "";
    const include = join(home, "include");
    if (!existsSync(join(include, "jni.h"))) return t.skip("this Java has no jni.h");
    const platform = process.platform === "darwin" ? "darwin" : "linux";
    const glue = join(folder, "libeliza_jni.so");
    output("cc", [
      ...["-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"],
      ...[`-I${headers}`, `-I${include}`, `-I${join(include, platform)}`],
      ...[join(examples, "java", "eliza_jni.c"), "-o", glue, ...linking()],
    ]);
    output("javac", ["-d", folder, join(examples, "java", "elizainference", "TextStream.java")]);
    const run = (model: string): string[] => [
      ...["-cp", folder, "elizainference.TextStream"],
      ...[glue, model, prompt, String(tokens)],
    ];
    assert.equal(output("java", run(picoModel)), expected);
    const missing = spawnSync("java", run("/nowhere.gguf"), { encoding: "utf8" });
    assert.match(missing.stderr, /IllegalStateException: MODEL_NOT_FOUND: /);
  });

  test("the header is a module that clang imports, as Swift does", (t) => {
    const clang = ["clang", "clang-19"].find((name) => spawnSync(name, ["--version"]).status === 0);
    if (!clang) return t.skip("clang is not installed");
    const source = [
      "#pragma clang module import ElizaInference",
      "int size(void) { return sizeof(eliza_llm_stream_config_t) == 88 ? 0 : eliza_inference_llm_stream_supported(); }",
    ].join("\n");
    const { status, stderr } = spawnSync(
      clang,
      [
        ...["-fmodules", `-fmodules-cache-path=${join(folder, "modules")}`],
        ...[`-I${headers}`, "-fsyntax-only", "-Werror", "-x", "c", "-"],
      ],
      { input: source, encoding: "utf8" },
    );
    assert.equal(status, 0, stderr);
  });

  test("Swift", (t) => {
    if (!has(t, "swiftc")) return;
    const program = join(folder, "swift-stream");
    const source = join(examples, "swift", "stream.swift");
    output("swiftc", [
      source,
      "-I",
      headers,
      "-L",
      dirname(library),
      "-Xlinker",
      "-rpath",
      "-Xlinker",
      dirname(library),
      "-o",
      program,
    ]);
    assert.equal(output(program, [picoModel, prompt, String(tokens)]), expected);
  });
});
