import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { NativeLibrary } from "../../src/native/native-library.ts";
import type { InferenceReport } from "../../src/report.ts";
import { readToEnd, streamConfig } from "../engine/abi-streams.ts";
import { picoModel } from "../engine/engine-under-test.ts";
import { makeBundle, runtimesUnderTest, withEnvironment } from "./runtimes-under-test.ts";

const { library: open, llamaLibrary } = await runtimesUnderTest();
const closed = NativeLibrary.load(llamaLibrary);

/** Lines of a tool's output; undefined where the tool is not there. */
function lines(command: string, args: string[]): string[] | undefined {
  const { stdout, status } = spawnSync(command, args, { encoding: "utf8", maxBuffer: 1 << 28 });
  return status === 0 ? stdout.split("\n").filter(Boolean) : undefined;
}

/** The libraries that a file asks the loader for. */
function needed(path: string): string[] | undefined {
  return lines("readelf", ["-d", path])
    ?.flatMap((line) => /\(NEEDED\).*\[(.*)\]/.exec(line)?.[1] ?? [])
    .sort();
}

describe("gates", () => {
  test("off: no symbol of the gated runtimes, of plugins or of fakes", (t) => {
    const symbols = lines("nm", ["-C", closed.path]);
    if (!symbols) return t.skip("nm is not installed");
    assert.ok(symbols.length > 1000, "the library is stripped");
    const traces = /litert|mlx|plugin|worker_session|fake/i;
    assert.deepEqual(
      symbols.filter((line) => /eliza::|eliza_/.test(line) && traces.test(line)),
      [],
    );
    assert.ok(lines("nm", ["-C", open.path])!.some((line) => traces.test(line)));
  });

  test("off: nothing but the C ABI is exported", (t) => {
    const exported = lines("nm", ["-D", "--defined-only", closed.path]);
    if (!exported) return t.skip("nm is not installed");
    const names = exported.map((line) => line.split(" ").at(-1)!);
    assert.deepEqual(
      names.filter((name) => !name.startsWith("eliza_inference_")),
      [],
    );
  });

  test("on: the library needs no other library than off", (t) => {
    const off = needed(closed.path);
    if (!off) return t.skip("readelf is not installed");
    assert.deepEqual(needed(open.path), off);
  });

  test("on, without the runtimes: registered, unavailable with a reason, and llama.cpp answers", async () => {
    const context = open.create(picoModel);
    const absent = { ELIZA_LITERT_PLUGIN: "absent/elizainference-litert" };
    const stream = await withEnvironment(absent, () => open.open(context, streamConfig, {}));
    const { candidates, runtime } = (await open.report(stream)) as InferenceReport;
    await open.close(stream);
    await open.destroy(context);
    assert.equal(runtime, "llama.cpp");
    for (const name of ["litert-lm", "mlx-coreml"]) {
      const candidate = candidates.find((each) => each.runtime === name);
      assert.match(candidate?.reason ?? "", /its plugin is not there: .*elizainference-/);
    }
  });

  test("off: a gated runtime that is asked for is refused by its gate's name", async () => {
    const context = closed.create(picoModel);
    for (const [name, gate] of [
      ["litert-lm", "ELIZA_ENABLE_LITERT"],
      ["MLX-CoreML", "ELIZA_ENABLE_MLX"],
    ] as const) {
      await assert.rejects(closed.open(context, streamConfig, { runtime: name }), {
        code: "BACKEND_UNAVAILABLE",
        message: new RegExp(`built without ${gate}`),
      });
    }
    await closed.destroy(context);
  });

  test("on and off give the same bytes on 20 prompts", async () => {
    const prompts = Array.from({ length: 20 }, (_, i) => `Fact ${i}: the number after ${i * 7} is`);
    const answers: number[][][] = [];
    for (const library of [closed, open]) {
      const context = library.create(picoModel);
      const all: number[][] = [];
      for (const prompt of prompts) {
        const stream = await library.open(context, { ...streamConfig, max_tokens: 16 }, {});
        const ids = library.tokenize(stream, prompt, { addSpecial: true, parseSpecial: false });
        library.prefill(stream, ids);
        all.push(await readToEnd(library, context, stream));
        await library.close(stream);
      }
      await library.destroy(context);
      answers.push(all);
    }
    assert.equal(answers[0]!.flat().length > 100, true);
    assert.deepEqual(answers[1], answers[0]);
  });
});

describe("the plugin border", () => {
  const candidate = async (variables: Record<string, string>) => {
    const { plugin } = await runtimesUnderTest();
    const bundle = await makeBundle(["model.litertlm"]);
    const context = open.create(bundle);
    try {
      return await withEnvironment({ ELIZA_LITERT_PLUGIN: plugin, ...variables }, async () => {
        const stream = await open.open(context, streamConfig, {});
        const { runtime, candidates } = (await open.report(stream)) as InferenceReport;
        await open.close(stream);
        return `${runtime}: ${candidates.find((each) => each.runtime === "litert-lm")?.reason}`;
      });
    } catch (error) {
      return (error as Error).message;
    } finally {
      await open.destroy(context);
    }
  };

  test("a plugin that is there answers", async () => {
    assert.equal(await candidate({}), "litert-lm: highest rank");
  });

  test("its own word on this host, a file that is no library, a library that is no plugin", async () => {
    const asked = { ELIZA_LLM_BACKEND: "litert-lm" };
    assert.match(await candidate({ ...asked, ELIZA_TEST_PLUGIN_UNAVAILABLE: "no NPU here" }), /no NPU here/);
    assert.match(
      await candidate({ ...asked, ELIZA_LITERT_PLUGIN: picoModel }),
      /invalid ELF|not a mach-o|%1/i,
    );
    assert.match(
      await candidate({ ...asked, ELIZA_LITERT_PLUGIN: closed.path }),
      /has no function eliza_runtime_plugin/,
    );
  });
});
