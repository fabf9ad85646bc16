// npm run pack:verifier [-- --out FILE --cuda 90,100]: one archive that verifies kernels on a machine with nothing
// installed but its drivers: Node, koffi, the harness, the kernels with what compilers make of them, the fixtures.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { hasTool } from "../src/build-cache.ts";
import { buildCpuLibrary } from "../src/cpu/build-library.ts";
import { compileCubin } from "../src/cuda/cuda-device.ts";

import { moduleHashes } from "../src/harness-hash.ts";
import { kernelsOn } from "../src/kernel-sources.ts";
import { planOf } from "../src/plan.ts";

import { ROOT } from "../src/repository.ts";
import { definitionsOf } from "../src/variants.ts";
import { compileShader } from "../src/vulkan/compile-shader.ts";

const PACKAGE = join(dirname(fileURLToPath(import.meta.url)), "..");
const require = createRequire(import.meta.url);
const { values } = parseArgs({
  options: {
    out: {
      type: "string",
      default: join(ROOT, ".cache", `eliza-verifier-${process.platform}-${process.arch}.tar.xz`),
    },
    cuda: { type: "string", default: "80,86,89,90,100,120" },
  },
});

const work = mkdtempSync(join(tmpdir(), "eliza-pack-"));
const folder = join(work, "eliza-verifier");
const prebuilt = join(folder, "prebuilt");
try {
  mkdirSync(prebuilt, { recursive: true });
  buildKernels();
  await bundle();
  copyRuntime();
  for (const part of ["kernels", "fixtures"])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  mkdirSync(join(folder, "contract"));
  cpSync(join(PACKAGE, "emulation"), join(folder, "emulation"), { recursive: true });
  // The bundle's code is these modules; the machine it runs on has no sources to hash.
  writeFileSync(join(folder, "harness.json"), JSON.stringify(moduleHashes()));
  writeFileSync(join(folder, "eliza-verify"), launcher());
  chmodSync(join(folder, "eliza-verify"), 0o755);
  mkdirSync(dirname(resolve(values.out)), { recursive: true });
  const partial = `${resolve(values.out)}.partial`;
  execFileSync("tar", ["-C", work, "-cJf", partial, "eliza-verifier"], {
    env: { XZ_OPT: "-6 -T0", ...process.env },
  });
  renameSync(partial, values.out);
  console.log(`${values.out}: ${(statSync(values.out).size / 1e6).toFixed(1)} MB`);
} finally {
  rmSync(work, { recursive: true, force: true });
}

/**
 * Fills prebuilt/ with what is built from the kernels, each with its label; a compiler that is missing here is told
 * and left out.
 */
function buildKernels(): void {
  const has = { glslc: hasTool("glslc"), nvcc: hasTool("nvcc"), cc: hasTool("cc") };
  for (const [tool, there] of Object.entries(has)) {
    if (!there) console.warn(`${tool} is not here: the archive will need it on the machine that it verifies`);
  }
  const built: string[] = [];
  if (has.glslc) for (const { stem } of kernelsOn("vulkan")) built.push(compileShader(stem).path);
  if (has.nvcc) {
    for (const kernel of kernelsOn("cuda")) {
      const modules = new Map(
        planOf(kernel, false)
          .map(({ formats }) => definitionsOf(kernel, formats))
          .map((definitions) => [definitions.join(" "), definitions]),
      );
      for (const architecture of values.cuda.split(",")) {
        if (kernel.cudaArchitectures?.includes(architecture) === false) continue;
        for (const definitions of modules.values()) {
          built.push(compileCubin(kernel.stem, architecture, definitions).path);
        }
      }
    }
  }
  if (has.cc) built.push(buildCpuLibrary());
  for (const path of built) {
    cpSync(path, join(prebuilt, basename(path)));
    cpSync(`${path}.json`, join(prebuilt, `${basename(path)}.json`));
  }
}

async function bundle(): Promise<void> {
  const { build } = await import("esbuild");
  await build({
    entryPoints: {
      "eliza-verify": join(PACKAGE, "src/pack-main.ts"),
      "verify-worker": join(PACKAGE, "src/verify-worker.ts"),
    },
    outdir: folder,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["source"],
    external: ["koffi"],
    logLevel: "warning",
  });
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ type: "module" })}\n`);
}

/** Node without its symbols, and koffi with the binary of this platform alone. */
function copyRuntime(): void {
  cpSync(process.execPath, join(folder, "node"), { dereference: true });
  if (hasTool("strip")) execFileSync("strip", [join(folder, "node")]);
  const koffi = dirname(require.resolve("koffi"));
  const modules = join(folder, "node_modules");
  cpSync(koffi, join(modules, "koffi"), {
    recursive: true,
    filter: (path) =>
      !/[\\/](doc|vendor|build)([\\/]|$)|\.(cc|hh|h|S|asm|md)$/.test(path.slice(koffi.length)),
  });
  const platform = `@koromix/koffi-${process.platform}-${process.arch}`;
  cpSync(join(koffi, "..", platform), join(modules, platform), {
    recursive: true,
    filter: (path) => !path.includes("musl"),
  });
}

function launcher(): string {
  return `#!/bin/sh
# eliza-verify [--device NAME] [--kernel NAME] [--evidence DIR] [--json], or eliza-verify bench
case $0 in */*) here=\${0%/*} ;; *) here=. ;; esac
here=$(cd "$here" && pwd)
export ELIZA_VERIFY_ROOT="$here" ELIZA_VERIFY_PREBUILT="$here/prebuilt"
exec "$here/node" "$here/eliza-verify.js" "$@"
`;
}
