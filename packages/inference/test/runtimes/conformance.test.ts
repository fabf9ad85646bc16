import { NativeLibrary } from "../../src/native/native-library.ts";
import { libraryUnderTest, picoModel } from "../engine/engine-under-test.ts";
import { conformance } from "./conformance.ts";
import { noLitert, tinyModel } from "./litert-under-test.ts";
import { makeBundle, runtimesUnderTest } from "./runtimes-under-test.ts";

const runtimes = await runtimesUnderTest();

conformance({
  runtime: "llama.cpp",
  library: NativeLibrary.load(await libraryUnderTest()),
  bundle: picoModel,
});

conformance({
  runtime: "fake",
  library: runtimes.library,
  bundle: await makeBundle(["model.fake"]),
  environment: () => {
    runtimes.setFakes([{ name: "fake" }]);
    return () => runtimes.setFakes([]);
  },
});

conformance({
  runtime: "fake that keeps no prefix",
  library: runtimes.library,
  bundle: await makeBundle(["model.fake"]),
  environment: () => {
    runtimes.setFakes([{ name: "fake that keeps no prefix", capabilities: ["tokenize", "detokenize"] }]);
    return () => runtimes.setFakes([]);
  },
});

conformance({
  runtime: "litert-lm",
  library: NativeLibrary.load(await libraryUnderTest()),
  bundle: tinyModel,
  skip: noLitert,
  prompt: "Once upon a time there was a café 漢字 🚀 one two three four five six",
});

// Behind the plugin border, in the place of a runtime that brings its own C++.
conformance({
  runtime: "litert-lm",
  library: runtimes.library,
  bundle: await makeBundle(["model.litertlm"]),
  environment: () => {
    process.env.ELIZA_LITERT_PLUGIN = runtimes.plugin;
    return () => delete process.env.ELIZA_LITERT_PLUGIN;
  },
});
