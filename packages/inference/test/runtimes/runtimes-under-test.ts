import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ensureNativeLibrary } from "@eliza-inference/build";
import koffi from "koffi";
import { NativeLibrary } from "../../src/native/native-library.ts";

/** How a fake runtime of the test library behaves; native/src/runtimes/fake. */
export interface FakeRuntime {
  name: string;
  rank?: number;
  /** why it is not available; left out: it is */
  unavailable?: string;
  /** why it supports no config; left out: its capabilities decide */
  unsupported?: string;
  /** ending of the file in text/ that it serves; ".fake" by default */
  artifact?: string;
  capabilities?: string[];
  stepMs?: number;
  endAfter?: number;
  failAfter?: number;
  trainedContext?: number;
}

/** The test library, with what only it exports. */
export interface RuntimesUnderTest {
  library: NativeLibrary;
  /** replaces the fake runtimes */
  setFakes(fakes: FakeRuntime[]): void;
  /** a runtime behind the plugin border */
  plugin: string;
  /** a library with every gate closed */
  llamaLibrary: string;
}

/** Where the test library and plugin lie: ELIZA_TEST_RUNTIMES (a folder), or the build of these sources. */
async function testFiles(): Promise<{ library: string; plugin: string; llamaLibrary: string }> {
  const folder = process.env.ELIZA_TEST_RUNTIMES;
  if (folder) {
    return {
      library: join(folder, "libelizainference_test.so"),
      plugin: join(folder, "libeliza_test_plugin.so"),
      llamaLibrary: join(folder, "libelizainference_llama.so"),
    };
  }
  const { testLibrary, testPlugin, llamaLibrary } = await ensureNativeLibrary();
  return { library: testLibrary, plugin: testPlugin, llamaLibrary };
}

export async function runtimesUnderTest(): Promise<RuntimesUnderTest> {
  const { library: path, plugin, llamaLibrary } = await testFiles();
  const library = NativeLibrary.load(path);
  const set = koffi.load(path).func("eliza_test_set_fake_runtimes", "int", ["const char *", "_Out_ void **"]);
  return {
    library,
    plugin,
    llamaLibrary,
    setFakes(fakes) {
      if (set(JSON.stringify(fakes), [null]) !== 0) throw new Error(`no fakes: ${JSON.stringify(fakes)}`);
    },
  };
}

/** A bundle with these empty files below text/. */
export async function makeBundle(files: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "eliza-bundle-"));
  for (const file of files) {
    const path = join(folder, "text", file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, "");
  }
  return folder;
}

/** Runs with the environment changed: undefined takes a variable away. */
export async function withEnvironment<T>(
  variables: Record<string, string | undefined>,
  run: () => Promise<T>,
): Promise<T> {
  const before = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]));
  const apply = (values: Record<string, string | undefined>): void => {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  apply(variables);
  try {
    return await run();
  } finally {
    apply(before);
  }
}
