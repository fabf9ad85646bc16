import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { addRuntime, findKnownRuntime, type KnownRuntime } from "../../src/runtimes/index.ts";
import { sha256, zip } from "../models/model-server.ts";

const library = Buffer.alloc(300_000, "library");
const members = { "lib/librt.so": library, "rt-1.dist-info/METADATA": Buffer.from("License: MIT\n") };

describe("addRuntime", () => {
  let server: Server;
  let index: string;
  let folder: string;
  let served: Buffer;
  let requests: string[] = [];

  const runtime = (over: Partial<KnownRuntime["wheels"][number]> = {}): KnownRuntime => ({
    name: "rt",
    title: "RT",
    version: "1",
    licence: { name: "MIT", url: "https://example.org/licence" },
    project: "Rt_Project",
    wheels: [
      {
        platform: process.platform,
        cpu: process.arch,
        file: "rt-1-py3-none-any.whl",
        bytes: served.length,
        sha256: sha256(served),
        library: "lib/librt.so",
        ...over,
      },
    ],
  });
  const add = (known: KnownRuntime | string = runtime(), options = {}) =>
    addRuntime(known, { folder, wheelIndex: index, ...options });
  const left = async (): Promise<string[]> =>
    (await readdir(folder, { recursive: true })).filter((name) => /unpacking|partial|whl|lock/.test(name));

  before(async () => {
    server = createServer((request, response) => {
      requests.push(request.url ?? "");
      if (request.url?.startsWith("/simple/rt-project/")) {
        response.setHeader("content-type", "application/vnd.pypi.simple.v1+json");
        response.end(JSON.stringify({ files: [{ url: "../../files/rt-1-py3-none-any.whl" }] }));
      } else if (request.url === "/files/rt-1-py3-none-any.whl") response.end(served);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    index = `http://127.0.0.1:${(server.address() as AddressInfo).port}/simple`;
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "eliza-runtimes-"));
    served = zip(members);
    requests = [];
  });
  after(() => {
    server.close();
  });

  test("fetches, verifies and unpacks, and leaves what is whole as it is", async () => {
    const added = await add();
    assert.equal(added.alreadyThere, false);
    assert.deepEqual(await readFile(added.library), library);
    const record = JSON.parse(await readFile(join(added.folder, "runtime.json"), "utf8"));
    assert.deepEqual(record.licence, { name: "MIT", url: "https://example.org/licence" });
    assert.equal(record.sha256, sha256(served));
    assert.deepEqual(await left(), []);
    requests = [];
    assert.deepEqual(await add(), { ...added, alreadyThere: true });
    assert.deepEqual(requests, []);
  });

  test("what lacks a file is fetched again; so is another version's", async () => {
    const added = await add();
    await writeFile(added.library, "shorter");
    assert.equal((await add()).alreadyThere, false);
    assert.deepEqual(await readFile(added.library), library);
    const other = Buffer.alloc(300_000, "another");
    served = zip({ "lib/librt.so": other });
    assert.equal((await add()).alreadyThere, false);
    assert.deepEqual(await readFile(added.library), other);
  });

  test("two at once fetch it once", async () => {
    const both = await Promise.all([add(), add()]);
    assert.deepEqual(both.map(({ alreadyThere }) => alreadyThere).sort(), [false, true]);
    assert.equal(requests.filter((url) => url.startsWith("/files")).length, 1);
  });

  test("another sha256 than the pinned one is refused, and nothing is left", async () => {
    await assert.rejects(add(runtime({ sha256: "0".repeat(64) })), { code: "HASH_MISMATCH" });
    assert.deepEqual(
      (await readdir(folder, { recursive: true })).filter((name) => name.includes("librt")),
      [],
    );
  });

  test("names that leave the folder, and what is no archive, are refused", async () => {
    served = zip({ "../outside.so": library });
    await assert.rejects(add(), { code: "ARCHIVE_INVALID" });
    await assert.rejects(readFile(join(folder, "rt", "outside.so")), { code: "ENOENT" });
    served = Buffer.from("no archive");
    await assert.rejects(add(), { code: "ARCHIVE_INVALID" });
    served = zip({ "lib/other.so": library });
    await assert.rejects(add(), { code: "ARCHIVE_INVALID", message: /has no lib\/librt\.so/ });
  });

  test("an archive whose content is not what its directory says is refused", async () => {
    served = zip(members);
    const name = served.lastIndexOf("lib/librt.so"); // in the directory, behind the sizes
    served.writeUInt32LE(1000, name - 46 + 24);
    await assert.rejects(add(), { code: "ARCHIVE_INVALID" });
    assert.deepEqual(
      (await readdir(folder, { recursive: true })).filter((each) => each.includes("unpacking")),
      [],
    );
  });

  test("a signal stops it", async () => {
    await assert.rejects(add(runtime(), { signal: AbortSignal.abort() }), { code: "CANCELLED" });
  });

  test("a name that is not known, and a machine that it is not for", async () => {
    await assert.rejects(add("litert-ml"), { code: "BACKEND_UNAVAILABLE", hint: /litert-lm/ });
    await assert.rejects(add(runtime({ platform: "aix" })), {
      code: "BACKEND_UNAVAILABLE",
      hint: /aix on/,
    });
    assert.equal(findKnownRuntime("LiteRT-LM")?.version, "0.18.1");
    await rm(folder, { recursive: true, force: true });
  });
});
