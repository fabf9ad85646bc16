import { rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { InferenceError } from "../../src/errors.ts";
import type { StreamConfig } from "../../src/native/stream-config.ts";
import type { InferenceReport } from "../../src/report.ts";
import { streamConfig } from "../engine/abi-streams.ts";
import { picoModel } from "../engine/engine-under-test.ts";
import {
  type FakeRuntime,
  makeBundle,
  type RuntimesUnderTest,
  withEnvironment,
} from "./runtimes-under-test.ts";

/** One situation that a selector meets, and what must come of it. */
export interface SelectorRow {
  row: string;
  fakes?: FakeRuntime[];
  /** files below text/; "model.gguf" is a real model */
  files: string[];
  /** ELIZA_LLM_BACKEND */
  env?: string;
  /** the option runtime */
  option?: string;
  config?: Partial<StreamConfig>;
  /** the runtime that answers, or what the refusal says */
  answers?: string;
  refused?: { code: string; words: RegExp[] };
  /** what the report says of runtimes that did not answer */
  reasons?: Record<string, RegExp>;
}

const gguf = "model.gguf";
const both = [gguf, "model.fake"];
const low = { name: "Fake-Low", rank: 5 };
const high = { name: "fake-high", rank: 9 };
const equal = { name: "fake-equal", rank: 9 };

export const selectorRows: SelectorRow[] = [
  { row: "no candidate", files: [gguf], answers: "llama.cpp" },
  { row: "one", fakes: [low], files: both, answers: "Fake-Low", reasons: { "llama.cpp": /lower rank/ } },
  {
    row: "several, by rank",
    fakes: [low, high],
    files: both,
    answers: "fake-high",
    reasons: { "Fake-Low": /lower rank/ },
  },
  { row: "equal ranks: the first registered", fakes: [low, equal, high], files: both, answers: "fake-equal" },
  {
    row: "rank 0 goes before the fallback",
    fakes: [{ name: "zero", rank: 0 }],
    files: both,
    answers: "zero",
  },
  {
    row: "below the fallback's rank",
    fakes: [{ name: "under", rank: -1 }],
    files: both,
    answers: "llama.cpp",
    reasons: { under: /lower rank/ },
  },
  {
    row: "unavailable",
    fakes: [{ ...high, unavailable: "no such device" }, low],
    files: both,
    answers: "Fake-Low",
    reasons: { "fake-high": /no such device/ },
  },
  {
    row: "cannot serve",
    fakes: [{ ...high, artifact: ".other" }, low],
    files: both,
    answers: "Fake-Low",
    reasons: { "fake-high": /no text\/\*\.other/ },
  },
  {
    row: "does not support this config",
    fakes: [high],
    files: both,
    config: { cache_type_k: "turbo4" },
    answers: "llama.cpp",
    reasons: { "fake-high": /cache_type_k needs the capability kv-types/ },
  },
  {
    row: "env hit in any letter case",
    fakes: [low, high],
    files: both,
    env: "fAKE-low",
    answers: "Fake-Low",
  },
  { row: "the option runtime", fakes: [low, high], files: both, option: "fake-LOW", answers: "Fake-Low" },
  { row: "llama.cpp by env", fakes: [high], files: both, env: "LLAMA.CPP", answers: "llama.cpp" },
  { row: "llamacpp by env", fakes: [high], files: both, env: "llamacpp", answers: "llama.cpp" },
  { row: "llama.cpp by option", fakes: [high], files: both, option: "llama.cpp", answers: "llama.cpp" },
  {
    row: "unknown",
    fakes: [low],
    files: both,
    env: "nobody",
    refused: {
      code: "BACKEND_UNAVAILABLE",
      words: [
        /"nobody": no runtime of that name is known/,
        /Fake-Low: could serve/,
        /llama\.cpp: could serve/,
      ],
    },
  },
  {
    row: "known but unavailable",
    files: [gguf, "model.litertlm"],
    env: "litert-lm",
    refused: { code: "BACKEND_UNAVAILABLE", words: [/its plugin is not there/, /mlx-coreml: /] },
  },
  {
    row: "known but unavailable, nobody asks for it",
    files: [gguf, "model.litertlm"],
    answers: "llama.cpp",
    reasons: { "litert-lm": /its plugin is not there/ },
  },
  {
    row: "unavailable by env",
    fakes: [{ ...low, unavailable: "no such device" }],
    files: both,
    env: "fake-low",
    refused: { code: "BACKEND_UNAVAILABLE", words: [/"fake-low": no such device/] },
  },
  {
    row: "no artifact",
    fakes: [low],
    files: [gguf],
    env: "fake-low",
    refused: { code: "BACKEND_UNAVAILABLE", words: [/no text\/\*\.fake/] },
  },
  {
    row: "unsupported config by option",
    fakes: [low],
    files: both,
    option: "fake-low",
    config: { gbnf_grammar: "root ::= x" },
    refused: { code: "BACKEND_UNAVAILABLE", words: [/grammar needs the capability grammar/] },
  },
  { row: "empty value", fakes: [high], files: both, env: "", answers: "fake-high" },
  {
    row: "env and option of one mind",
    fakes: [low, high],
    files: both,
    env: "Fake-Low",
    option: "fake-low",
    answers: "Fake-Low",
  },
  {
    row: "env and option of two minds",
    fakes: [low, high],
    files: both,
    env: "fake-low",
    option: "fake-high",
    refused: { code: "BACKEND_UNAVAILABLE", words: [/"fake-high"/, /"fake-low"/] },
  },
  {
    row: "two artifacts in one bundle",
    fakes: [high],
    files: both,
    option: "llamacpp",
    answers: "llama.cpp",
  },
  {
    row: "two models for the fallback alone",
    files: [gguf, "other.gguf"],
    refused: { code: "MODEL_INVALID", words: [/several models/] },
  },
  {
    row: "nobody can serve the bundle",
    fakes: [{ ...low, artifact: ".other" }],
    files: ["model.fake"],
    refused: { code: "MODEL_NOT_FOUND", words: [/no text\/\*\.gguf/] },
  },
];

export interface SelectorOutcome {
  answers?: string;
  candidates: InferenceReport["candidates"];
  error?: InferenceError;
}

/** What the library makes of a row, through the C ABI. */
export async function outcomeOf(
  row: SelectorRow,
  { library, setFakes }: RuntimesUnderTest,
): Promise<SelectorOutcome> {
  const bundle = await makeBundle(row.files);
  try {
    if (row.files.includes(gguf)) {
      await rm(join(bundle, "text", gguf));
      await symlink(picoModel, join(bundle, "text", gguf));
    }
    return await open(row, bundle, library, setFakes);
  } finally {
    await rm(bundle, { recursive: true, force: true });
  }
}

async function open(
  row: SelectorRow,
  bundle: string,
  library: RuntimesUnderTest["library"],
  setFakes: RuntimesUnderTest["setFakes"],
): Promise<SelectorOutcome> {
  setFakes(row.fakes ?? []);
  const context = library.create(bundle);
  try {
    const plugin = "nowhere/elizainference-litert"; // LiteRT-LM may be here
    return await withEnvironment({ ELIZA_LLM_BACKEND: row.env, ELIZA_LITERT_PLUGIN: plugin }, async () => {
      const options = row.option === undefined ? {} : { runtime: row.option };
      const stream = await library.open(context, { ...streamConfig, ...row.config }, options);
      const report = (await library.report(stream)) as InferenceReport;
      await library.close(stream);
      return { answers: report.runtime, candidates: report.candidates };
    });
  } catch (error) {
    if (!(error instanceof InferenceError)) throw error;
    return { candidates: [], error };
  } finally {
    await library.destroy(context);
  }
}
