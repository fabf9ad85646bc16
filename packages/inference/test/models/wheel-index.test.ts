import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { InferenceError } from "../../src/errors.ts";
import { findWheelIndex, type WheelIndexOptions } from "../../src/models/wheel-index.ts";

const folder = await mkdtemp(join(tmpdir(), "eliza-pip-"));
after(() => rm(folder, { recursive: true, force: true }));

const help = `
Package Index Options:
  -i, --index-url <url>       Base URL of the index (default
                              https://index.example/simple). This should point
                              to a repository (the simple API).
  --extra-index-url <url>     Extra URLs (default https://other.example/simple).
`;
const nothing: WheelIndexOptions = { environment: {}, configFiles: [], pipHelp: async () => undefined };

async function config(text: string): Promise<string> {
  const path = join(folder, `${Math.random()}.conf`);
  await writeFile(path, text);
  return path;
}

test("the option comes first, then the environment, the files, and pip's word", async () => {
  const file = await config(
    "[global]\nextra-index-url = https://no.example\nindex-url = https://file.example/simple/\n",
  );
  const all: WheelIndexOptions = {
    url: "https://option.example/simple",
    environment: {
      ELIZA_WHEEL_INDEX: "https://eliza.example/simple",
      PIP_INDEX_URL: "https://pip.example/s",
    },
    configFiles: [join(folder, "absent"), file],
    pipHelp: async () => help,
  };
  const url = async (options: WheelIndexOptions) => (await findWheelIndex(options)).url;
  assert.equal(await url(all), "https://option.example/simple");
  assert.equal(await url({ ...all, url: undefined }), "https://eliza.example/simple");
  assert.equal(
    await url({ ...all, url: "", environment: { PIP_INDEX_URL: "https://p.example/s" } }),
    "https://p.example/s",
  );
  assert.equal(await url({ ...all, url: undefined, environment: {} }), "https://file.example/simple");
  assert.equal(await url({ ...nothing, pipHelp: async () => help }), "https://index.example/simple");
});

test("the section for downloads goes before the global one, and comments are none", async () => {
  const file = await config(
    "# index-url = https://a.example\n[global]\nindex_url: https://b.example\n[download]\nindex-url=https://c.example\n[other]\nindex-url = https://d.example\n",
  );
  assert.equal((await findWheelIndex({ ...nothing, configFiles: [file] })).url, "https://c.example");
});

test("a login in the address becomes a header and is never shown", async () => {
  const found = await findWheelIndex({ ...nothing, url: "https://ada:p%40ss@index.example/simple/" });
  assert.equal(found.url, "https://index.example/simple");
  assert.deepEqual(found.headers, { authorization: `Basic ${Buffer.from("ada:p@ss").toString("base64")}` });
});

test("without any index, or with a folder as index, the error says how to set it", async () => {
  for (const options of [nothing, { ...nothing, url: "file:///srv/simple" }]) {
    await assert.rejects(findWheelIndex(options), (error) => {
      assert.ok(error instanceof InferenceError);
      assert.equal(error.code, "SOURCE_UNKNOWN");
      assert.match(error.hint, /ELIZA_WHEEL_INDEX/);
      return true;
    });
  }
});
