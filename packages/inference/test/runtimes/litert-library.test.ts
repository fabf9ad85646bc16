import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type ContextHandle, NativeLibrary } from "../../src/native/native-library.ts";
import { readToEnd, streamConfig } from "../engine/abi-streams.ts";
import { libraryUnderTest } from "../engine/engine-under-test.ts";
import { tinyModel } from "./litert-under-test.ts";
import { withEnvironment } from "./runtimes-under-test.ts";

const source = fileURLToPath(new URL("../../../../native/tests/plugin/fake-litert-lm.c", import.meta.url));
const library = NativeLibrary.load(await libraryUnderTest());
const noCompiler =
  spawnSync("cc", ["--version"]).status === 0 && process.platform === "linux"
    ? false
    : "no C compiler, or not Linux";

// A library that stands in for LiteRT-LM's, since the real one does these things seldom.
describe("LiteRT-LM's library", { skip: noCompiler }, () => {
  let folder: string;
  let context: ContextHandle;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "eliza-fake-litert-"));
    context = library.create(tinyModel);
  });
  after(async () => {
    await library.destroy(context);
    await rm(folder, { recursive: true, force: true });
  });

  /** Compiles a library of its own, since one that was opened stays. */
  const made = (name: string, definitions: string[]): string => {
    const path = join(folder, `${name}.so`);
    const flags = ["-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", "-pthread"];
    const { status, stderr } = spawnSync("cc", [...flags, ...definitions, source, "-o", path], {
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
    return path;
  };
  const version = '-DVERSION="0.18.1"';
  const inMode = <T>(path: string, mode: string, run: () => Promise<T>): Promise<T> =>
    withEnvironment(
      {
        ELIZA_LITERT_LM_LIBRARY: path,
        ELIZA_INFERENCE_CACHE: join(folder, "cache"),
        FAKE_LITERT_MODE: mode,
        ELIZA_LITERT_TIME_LIMIT_MS: "400",
        ELIZA_PROBE_TIME_LIMIT_MS: "5000",
      },
      run,
    );
  const answer = async (): Promise<string> => {
    const stream = await library.open(
      context,
      { ...streamConfig, context_size: 64 },
      { runtime: "litert-lm" },
    );
    try {
      const ids = library.tokenize(stream, "Hello", { addSpecial: true, parseSpecial: false });
      library.prefill(stream, ids);
      return library.detokenize(stream, Int32Array.from(await readToEnd(library, context, stream)), false);
    } finally {
      await library.close(stream);
    }
  };

  test("other versions, and what lacks a function, are refused with what was found and what is supported", async () => {
    const cases: [string, string[], RegExp][] = [
      ["older", ['-DVERSION="0.18.0"'], /it is version 0\.18\.0 \(supported: 0\.18\.1\)/],
      ["next", [version, "-DNEXT_INTERFACE"], /C interface of 0\.19 or later \(supported: 0\.18\.1\)/],
      ["unknown", [], /its version is not known \(supported: 0\.18\.1\)/],
      ["lacking", [version, "-DWITHOUT_REWIND"], /lacks the function litert_lm_session_rewind_to_step/],
    ];
    for (const [name, definitions, words] of cases) {
      await inMode(made(name, definitions), "", () =>
        assert.rejects(answer(), { code: "BACKEND_UNAVAILABLE", message: words }),
      );
    }
    await inMode(join(folder, "absent.so"), "", () =>
      assert.rejects(answer(), { code: "BACKEND_UNAVAILABLE", message: /runtimes add litert-lm/ }),
    );
  });

  test("a file on which it dies or hangs is refused, once it was opened in another process", async () => {
    const path = made("dying", [version]);
    await inMode(path, "dies", () =>
      assert.rejects(answer(), { code: "MODEL_INVALID", message: /ends with signal 6 on it/ }),
    );
    await inMode(path, "hangs", () =>
      withEnvironment({ ELIZA_PROBE_TIME_LIMIT_MS: "300", ELIZA_LITERT_TIME_LIMIT_MS: undefined }, () =>
        assert.rejects(answer(), { code: "MODEL_INVALID", message: /did not open it in time/ }),
      ),
    );
  });

  test("a call that does not come back costs its stream, not the process; the next one loads the model anew", async () => {
    const path = made("silent", [version]);
    assert.equal(await inMode(path, "", answer), "aaa");
    for (const mode of ["silent", "hangs"]) {
      await inMode(path, mode, () =>
        assert.rejects(answer(), {
          code: "NATIVE_FAULT",
          message: /did not come back from .* within 400 ms/,
        }),
      );
      assert.equal(await inMode(path, "", answer), "aaa", mode);
    }
  });

  test("its errors without words, or that are no UTF-8, become text", async () => {
    const path = made("broken", [version]);
    await inMode(path, "broken-words", () =>
      assert.rejects(answer(), {
        code: "MODEL_INVALID",
        message: /LiteRT-LM says \uFFFD+: without a message \(code 13\)/,
      }),
    );
    await inMode(path, "", answer);
    await inMode(path, "fails", () =>
      assert.rejects(answer(), { code: "NATIVE_FAULT", message: /failed to generate/ }),
    );
  });
});
