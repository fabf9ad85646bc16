/**
 * `npm run make:litertlm -- [NAME…]`: converts models to LiteRT-LM's files. Needs Python 3.12 and 6.5 GB of disk for the
 * converter, which is installed by the hashes of requirements.lock into the user's cache folder, once.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { userFolders } from "@eliza-inference/fetch";
import { pullModel } from "eliza-inference";
import { settleHeader } from "./settle-header.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("../../", import.meta.url));
/** What installs the lock, and wrote it: uv pip compile --generate-hashes --python-version 3.12 requirements.in */
const UV = "uv==0.9.7";
const python = process.env.ELIZA_PYTHON ?? "python3.12";

interface Recipe {
  /** Writes a Hugging Face folder. */
  prepare(tools: Tools, folder: string): Promise<void>;
  export: string[];
  /** Where the result goes; by default the user's cache folder. */
  committed?: string;
}

interface Tools {
  python(args: string[]): Promise<void>;
}

const recipes: Record<string, Recipe> = {
  // Prompts of 16 or 64 tokens at once, 512 tokens of context, prefixes and suffixes instead of a template.
  tiny: {
    prepare: ({ python }, folder) => python([join(here, "tiny_model.py"), folder]),
    export: ["--prefill_lengths=[16,64]", "--cache_length=512", "--use_jinja_template=False"],
    committed: join(root, "models", "tiny"),
  },
  // Ours of head_dim 128.
  pico: {
    prepare: ({ python }, folder) =>
      python([join(here, "gguf_to_hf.py"), join(root, "models", "pico", "pico.gguf"), folder]),
    export: ["--prefill_lengths=[32,128]", "--cache_length=1024"],
  },
  "smollm2-135m": {
    prepare: async ({ python }, folder) => {
      const { path } = await pullModel("smollm2-135m");
      await python([join(here, "gguf_to_hf.py"), path, folder]);
    },
    export: ["--prefill_lengths=[32,128]", "--cache_length=1280"],
  },
};

const names = process.argv.slice(2);
const unknown = names.find((name) => recipes[name] === undefined);
if (names.length === 0 || unknown !== undefined) {
  if (unknown !== undefined) console.error(`there is no recipe "${unknown}"`);
  console.error(`usage: npm run make:litertlm -- NAME…\nrecipes: ${Object.keys(recipes).join(", ")}`);
  process.exitCode = unknown === undefined ? 0 : 2;
} else {
  const venv = await ensureConverter();
  for (const name of names) await make(name, recipes[name]!, venv);
}

async function make(name: string, recipe: Recipe, venv: string): Promise<void> {
  const work = join(userFolders().cache, "litertlm", "work", name);
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  const source = join(work, "source");
  await recipe.prepare({ python: (args) => run(join(venv, "bin", "python"), args) }, source);
  await run(join(venv, "bin", "litert-torch"), [
    "export_hf",
    `--model=${source}`,
    `--output_dir=${join(work, "made")}`,
    "--quantization_recipe=dynamic_wi8_afp32",
    ...recipe.export,
  ]);
  const made = settleHeader(await readFile(join(work, "made", "model.litertlm")));
  const folder = recipe.committed ?? join(userFolders().cache, "litertlm", "models");
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${name}.litertlm`);
  const before = await readFile(path).catch(() => undefined);
  await writeFile(`${path}.new`, made);
  await rename(`${path}.new`, path);
  if (existsSync(join(source, "expected.json"))) {
    await copyFile(join(source, "expected.json"), join(folder, "expected.json"));
  }
  await rm(work, { recursive: true, force: true });
  const same =
    before === undefined ? "new" : before.equals(made) ? "the same bytes as before" : "other bytes";
  console.log(`${path}: ${made.length} bytes, sha256 ${sha256(made)} (${same})`);
}

/** The folder of a virtual environment with all that requirements.lock lists. */
async function ensureConverter(): Promise<string> {
  const lock = join(here, "requirements.lock");
  const key = sha256(await readFile(lock)).slice(0, 12);
  const venv = join(userFolders().cache, "litertlm", `venv-${key}`);
  if (existsSync(join(venv, "whole"))) return venv;
  await rm(venv, { recursive: true, force: true });
  await mkdir(join(venv, ".."), { recursive: true });
  await run(python, ["-m", "venv", venv]);
  // pip refuses one package of the lock that names Python 3.11 as its last; uv takes it, and it is not used.
  const inside = join(venv, "bin", "python");
  await run(inside, ["-m", "pip", "install", "--quiet", UV]);
  const install = ["pip", "sync", "--python", inside, "--require-hashes", lock];
  await run(join(venv, "bin", "uv"), install);
  await writeTensorflowName(venv);
  await writeFile(join(venv, "whole"), "");
  return venv;
}

/**
 * litert-torch 0.10.0 imports one module of tensorflow, which it does not depend on; ai-edge-litert has it under another
 * name.
 */
async function writeTensorflowName(venv: string): Promise<void> {
  const folder = join(venv, "lib", "python3.12", "site-packages", "tensorflow");
  await mkdir(join(folder, "lite", "python"), { recursive: true });
  for (const part of [[], ["lite"], ["lite", "python"]]) {
    await writeFile(join(folder, ...part, "__init__.py"), "");
  }
  await writeFile(
    join(folder, "lite", "python", "schema_py_generated.py"),
    "from ai_edge_litert.schema_py_generated import *\n",
  );
}

async function run(command: string, args: string[]): Promise<void> {
  // One order of sets and sums, and no GPU, so that the same bytes come out again.
  const env = {
    ...process.env,
    ...{ PYTHONHASHSEED: "0", CUDA_VISIBLE_DEVICES: "", OMP_NUM_THREADS: "2" },
    ...{ TF_CPP_MIN_LOG_LEVEL: "2", PYTHONWARNINGS: "ignore" },
  };
  const child = spawn(command, args, { stdio: "inherit", env });
  const status = await new Promise<number | string>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  if (status !== 0) throw new Error(`${command} ${args[0]} ended with ${status}`);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
