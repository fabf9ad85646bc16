import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { kernelTables } from "../src/kernel-tables.ts";

const folder = new URL("../../../kernels/tables/", import.meta.url);

test("the committed kernel tables are what the script writes, and nothing else", () => {
  const tables = kernelTables();
  assert.deepEqual(readdirSync(folder).sort(), Object.keys(tables).sort());
  for (const [name, text] of Object.entries(tables)) {
    assert.ok(
      readFileSync(new URL(name, folder), "utf8") === text,
      `${name} differs: run write-kernel-tables.ts`,
    );
  }
});
