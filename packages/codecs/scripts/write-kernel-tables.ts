// Writes kernels/tables/*.inc: every constant table of the formats as bare initialiser lists, so that one file
// serves C, CUDA, Metal and GLSL. Run: node scripts/ts.mjs packages/codecs/scripts/write-kernel-tables.ts
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { kernelTables } from "../src/kernel-tables.ts";

const folder = new URL("../../../kernels/tables/", import.meta.url);
for (const [name, text] of Object.entries(kernelTables())) {
  const path = fileURLToPath(new URL(name, folder));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.part`, text);
  renameSync(`${path}.part`, path);
  console.log(`kernels/tables/${name}: ${text.length} bytes`);
}
