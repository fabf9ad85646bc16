// Writes fixtures/: npm run fixtures. The same bytes every time, on every machine.
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { attentionFixtures } from "./attention-fixtures.ts";
import { goldenFixtures } from "./golden-fixtures.ts";
import { seedFixtures } from "./seed-fixtures.ts";

const root = new URL("../../../fixtures/", import.meta.url);

function write(folder: string, files: ReadonlyMap<string, Uint8Array>): void {
  let bytes = 0;
  for (const [name, content] of files) {
    const path = fileURLToPath(new URL(folder + name, root));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.part`, content);
    renameSync(`${path}.part`, path);
    bytes += content.length;
  }
  console.log(`fixtures/${folder}: ${files.size} files, ${bytes} bytes`);
}

write("", seedFixtures());
write("golden/", goldenFixtures());
write("attention/", attentionFixtures());
