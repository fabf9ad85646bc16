import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import * as tar from "tar";
import { BuildError } from "../src/errors.ts";
import type { SourcePin } from "../src/pins.ts";
import { fetchSource } from "../src/source.ts";
import { hashTree } from "../src/tree-hash.ts";

describe("pinned sources", () => {
  let root = "";
  let server: Server;
  let base = "";
  let hash = "";
  const archives = new Map<string, Buffer>();

  const pin = (...names: string[]): SourcePin => ({
    name: "demo",
    version: "v1",
    archives: names.map((name) => `${base}/${name}`),
    // refused by npm at once, without a network
    npmMirror: { package: "file:./nowhere", version: "0", bundle: "x", bundleSha256: "" },
    paths: ["CMakeLists.txt", "src"],
    treeSha256: hash,
  });

  before(async () => {
    root = await mkdtemp(join(tmpdir(), "source-"));
    const tree = join(root, "demo-1");
    await mkdir(join(tree, "src", "deep"), { recursive: true });
    await writeFile(join(tree, "CMakeLists.txt"), "project(demo)\n");
    await writeFile(join(tree, "src", "deep", "a.c"), "int a;\n");
    await writeFile(join(tree, "unneeded"), "left out\n");
    hash = await hashTree(tree, ["CMakeLists.txt", "src"]);
    const pack = async (name: string) => {
      await tar.create({ gzip: true, file: join(root, name), cwd: root }, ["demo-1"]);
      archives.set(`/${name}`, await readFile(join(root, name)));
    };
    await pack("good.tar.gz");
    await writeFile(join(tree, "src", "deep", "a.c"), "int b;\n");
    await pack("changed.tar.gz");
    archives.set("/cut.tar.gz", archives.get("/good.tar.gz")!.subarray(0, 100));
    server = createServer((request, response) => {
      const body = archives.get(request.url ?? "");
      response.writeHead(body ? 200 : 404);
      response.end(body);
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    server.close();
    await rm(root, { recursive: true });
  });

  test("an archive whose tree has the pinned hash is kept, and only its needed paths", async () => {
    const folder = join(root, "good");
    const tree = await fetchSource(pin("good.tar.gz"), { folder });
    assert.deepEqual((await readdir(tree)).sort(), ["CMakeLists.txt", "src"]);
    assert.deepEqual(await readdir(folder), [tree.slice(folder.length + 1)]);
  });

  test("a source that fails is passed over for the next", async () => {
    const tree = await fetchSource(pin("missing.tar.gz", "cut.tar.gz", "good.tar.gz"), {
      folder: join(root, "next"),
    });
    assert.equal(await hashTree(tree, ["CMakeLists.txt", "src"]), hash);
  });

  test("a tree with another hash is refused and nothing stays", async () => {
    const folder = join(root, "changed");
    await assert.rejects(fetchSource(pin("changed.tar.gz"), { folder }), (error: unknown) => {
      assert.ok(error instanceof BuildError);
      assert.equal(error.code, "SOURCE_MISMATCH");
      assert.match(error.message, /changed\.tar\.gz: holds tree [0-9a-f]{64}/);
      return true;
    });
    assert.deepEqual(await readdir(folder), []);
  });

  test("no source at all names every reason", async () => {
    await assert.rejects(
      fetchSource(pin("missing.tar.gz"), { folder: join(root, "none") }),
      (error: unknown) => {
        assert.ok(error instanceof BuildError);
        assert.equal(error.code, "SOURCE_UNAVAILABLE");
        assert.match(error.message, /HTTP 404/);
        assert.match(error.message, /npm package/);
        return true;
      },
    );
  });
});
