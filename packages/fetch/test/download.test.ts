import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { diskError, download, FetchError } from "../src/index.ts";
import {
  type FileServer,
  type Handler,
  randomContent,
  serveRanges,
  sha256,
  startServer,
  withFolder,
} from "./file-server.ts";

const content = randomContent(300_000);
const hash = sha256(content);

function withServer(
  handler: Handler,
  work: (server: FileServer, destination: string) => Promise<void>,
): () => Promise<void> {
  return () =>
    withFolder(async (folder) => {
      const server = await startServer(handler);
      try {
        await work(server, join(folder, "deep", "model.bin"));
      } finally {
        await server.close();
      }
    });
}

async function failure(promise: Promise<unknown>): Promise<FetchError> {
  const error = await promise.then(
    () => assert.fail("it should have failed"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof FetchError, String(error));
  assert.notEqual(error.hint, "");
  return error;
}

async function leavePartial(destination: string, bytes: Uint8Array): Promise<void> {
  await mkdir(join(destination, ".."), { recursive: true });
  await writeFile(`${destination}.partial`, bytes);
}

async function assertWhole(destination: string): Promise<void> {
  assert.ok(content.equals(await readFile(destination)));
  assert.deepEqual(await readdir(join(destination, "..")), ["model.bin"], "nothing is left beside the file");
}

test(
  "a whole file arrives, is verified and takes its name",
  withServer(serveRanges(content), async (server, destination) => {
    const seen: number[] = [];
    const result = await download({
      urls: [server.url],
      destination,
      sha256: hash.toUpperCase(),
      bytes: content.length,
      onProgress: (at) => seen.push(at.receivedBytes),
    });
    assert.deepEqual(result, {
      path: destination,
      bytes: content.length,
      sha256: hash,
      url: server.url,
      alreadyThere: false,
    });
    assert.equal(seen.at(-1), content.length);
    await assertWhole(destination);
    const again = await download({ urls: [server.url], destination, sha256: hash });
    assert.equal(again.alreadyThere, true);
    assert.equal(server.ranges.length, 1, "the second call asks nobody");
  }),
);

test(
  "a target with other content is replaced",
  withServer(serveRanges(content), async (server, destination) => {
    await mkdir(join(destination, ".."), { recursive: true });
    await writeFile(destination, Buffer.alloc(content.length));
    await download({ urls: [server.url], destination, sha256: hash });
    await assertWhole(destination);
  }),
);

test(
  "a partial is resumed with Range",
  withServer(serveRanges(content), async (server, destination) => {
    await leavePartial(destination, content.subarray(0, 123_456));
    await download({ urls: [server.url], destination, sha256: hash });
    assert.deepEqual(server.ranges, ["bytes=123456-"]);
    await assertWhole(destination);
  }),
);

test(
  "a connection that breaks again and again is resumed where it broke, with If-Range",
  withServer(
    (request, response, count) => {
      if (count === 4) assert.equal(request.headers["if-range"], '"v1"');
      if (count >= 4) return serveRanges(content, '"v1"')(request, response, count);
      const from = Number(/\d+/.exec(request.headers.range ?? "0")?.[0]);
      response.writeHead(from === 0 ? 200 : 206, {
        etag: '"v1"',
        "content-length": String(content.length - from),
        ...(from === 0 ? {} : { "content-range": `bytes ${from}-${content.length - 1}/${content.length}` }),
      });
      response.write(content.subarray(from, from + 70_000), () => setTimeout(() => response.destroy(), 20));
    },
    async (server, destination) => {
      const reasons: string[] = [];
      await download({
        urls: [server.url],
        destination,
        sha256: hash,
        onRetry: (reason) => reasons.push(reason.code),
      });
      assert.deepEqual(server.ranges, ["", "bytes=70000-", "bytes=140000-", "bytes=210000-"]);
      assert.deepEqual(reasons, ["CONNECTION_LOST", "CONNECTION_LOST", "CONNECTION_LOST"]);
      await assertWhole(destination);
    },
  ),
);

test(
  "a file that changed on the server is read from its start",
  withServer(serveRanges(content, '"new"'), async (server, destination) => {
    await leavePartial(destination, randomContent(1000));
    const stamp = { sha256: hash, url: server.url, etag: '"old"' };
    await writeFile(`${destination}.partial.json`, JSON.stringify(stamp));
    await download({ urls: [server.url], destination, sha256: hash });
    assert.deepEqual(server.ranges, ["bytes=1000-"], "one request: If-Range turns it into a whole answer");
    await assertWhole(destination);
  }),
);

test(
  "a server without ranges is read from the start",
  withServer(
    (_request, response) => {
      response.writeHead(200, { "content-length": String(content.length) });
      response.end(content);
    },
    async (server, destination) => {
      await leavePartial(destination, content.subarray(0, 1000));
      await download({ urls: [server.url], destination, sha256: hash });
      await assertWhole(destination);
    },
  ),
);

for (const bytes of [undefined, content.length]) {
  test(
    `a partial longer than the file is dropped (size ${bytes === undefined ? "unknown" : "known"})`,
    withServer(serveRanges(content), async (server, destination) => {
      await leavePartial(destination, randomContent(content.length + 5));
      await download({ urls: [server.url], destination, sha256: hash, bytes });
      await assertWhole(destination);
    }),
  );
  test(
    `a partial that is the whole file is only verified (size ${bytes === undefined ? "unknown" : "known"})`,
    withServer(serveRanges(content), async (server, destination) => {
      await leavePartial(destination, content);
      await download({ urls: [server.url], destination, sha256: hash, bytes });
      assert.deepEqual(server.ranges, bytes === undefined ? [`bytes=${content.length}-`] : []);
      await assertWhole(destination);
    }),
  );
}

test(
  "a partial with wrong bytes gets one clean try",
  withServer(serveRanges(content), async (server, destination) => {
    await leavePartial(destination, randomContent(5000));
    await download({ urls: [server.url], destination, sha256: hash });
    assert.deepEqual(server.ranges, ["bytes=5000-", ""]);
    await assertWhole(destination);
  }),
);

test(
  "a partial of another version of the file is not used",
  withServer(serveRanges(content), async (server, destination) => {
    await leavePartial(destination, randomContent(5000));
    await writeFile(`${destination}.partial.json`, JSON.stringify({ sha256: "0".repeat(64) }));
    await download({ urls: [server.url], destination, sha256: hash });
    assert.deepEqual(server.ranges, [""]);
    await assertWhole(destination);
  }),
);

test(
  "a wrong hash is refused, leaves nothing, and the next source is tried",
  withServer(
    (request, response, count) =>
      serveRanges(request.url === "/bad" ? randomContent(content.length) : content)(request, response, count),
    async (server, destination) => {
      const error = await failure(download({ urls: [`${server.url}/bad`], destination, sha256: hash }));
      assert.equal(error.code, "HASH_MISMATCH");
      assert.deepEqual(await readdir(join(destination, "..")), []);
      const result = await download({
        urls: [`${server.url}/bad`, `${server.url}/good`],
        destination,
        sha256: hash,
      });
      assert.equal(result.url, `${server.url}/good`);
      await assertWhole(destination);
    },
  ),
);

test(
  "a body that ends early without a word is TRUNCATED and can be resumed",
  withServer(
    (request, response, count) => {
      if (request.url === "/whole") return serveRanges(content)(request, response, count);
      response.writeHead(200, { "transfer-encoding": "chunked" });
      response.end(content.subarray(0, 200_000));
    },
    async (server, destination) => {
      const options = { destination, sha256: hash, bytes: content.length, attempts: 1 };
      const error = await failure(download({ ...options, urls: [server.url] }));
      assert.equal(error.code, "TRUNCATED");
      assert.match(error.message, /200000 of 300000/);
      assert.equal(existsSync(destination), false);
      await download({ ...options, urls: [`${server.url}/whole`] });
      assert.equal(server.ranges.at(-1), "bytes=200000-");
      await assertWhole(destination);
    },
  ),
);

test(
  "a body that does not end is stopped at the size",
  withServer(
    (_request, response) => {
      const piece = Buffer.alloc(65_536);
      const more = (): void => {
        while (!response.destroyed && response.write(piece)) {}
      };
      response.on("drain", more);
      more();
    },
    async (server, destination) => {
      const error = await failure(
        download({ urls: [server.url], destination, sha256: hash, bytes: content.length }),
      );
      assert.equal(error.code, "SIZE_MISMATCH");
      assert.deepEqual(await readdir(join(destination, "..")), []);
    },
  ),
);

test(
  "a cancel in the middle leaves a resumable partial and no target",
  withServer(
    (request, response, count) => {
      if (count > 1) return serveRanges(content)(request, response, count);
      response.writeHead(200, { "content-length": String(content.length) });
      response.write(content.subarray(0, 150_000));
    },
    async (server, destination) => {
      const controller = new AbortController();
      const options = { urls: [server.url], destination, sha256: hash };
      const error = await failure(
        download({
          ...options,
          signal: controller.signal,
          onProgress: () => setTimeout(() => controller.abort(), 50),
        }),
      );
      assert.equal(error.code, "CANCELLED");
      assert.equal(existsSync(destination), false);
      assert.equal(existsSync(`${destination}.lock`), false);
      assert.ok(content.subarray(0, 150_000).equals(await readFile(`${destination}.partial`)));
      await download(options);
      assert.deepEqual(server.ranges, ["", "bytes=150000-"]);
      await assertWhole(destination);
    },
  ),
);

test(
  "a server that falls silent is a TIMEOUT",
  withServer(
    (_request, response) => {
      response.writeHead(200, { "content-length": "10" }).write("12345");
    },
    async (server, destination) => {
      const options = { urls: [server.url], destination, sha256: hash, idleTimeoutMs: 80, attempts: 1 };
      assert.equal((await failure(download(options))).code, "TIMEOUT");
    },
  ),
);

test(
  "statuses and redirects have their own codes, and every source's reason is kept",
  withServer(
    (request, response) => {
      const status = Number(/\d+/.exec(request.url ?? "")?.[0]);
      const location = request.url?.startsWith("/302") ? { location: "/302/b" } : {};
      response.writeHead(status, { ...location, "retry-after": "0" }).end();
    },
    async (server, destination) => {
      const of = async (path: string) =>
        (await failure(download({ urls: [server.url + path], destination, sha256: hash }))).code;
      assert.equal(await of("/404"), "NOT_FOUND");
      assert.equal(await of("/401"), "ACCESS_DENIED");
      assert.equal(await of("/302"), "REDIRECT_LOOP");
      const before = server.ranges.length;
      assert.equal(await of("/503"), "HTTP_STATUS");
      assert.equal(server.ranges.length - before, 4, "a busy server gets four tries");
      const gone = await startServer(() => {});
      await gone.close();
      const urls = ["/404", "/403"].map((path) => server.url + path).concat(gone.url);
      const error = await failure(download({ urls, destination, sha256: hash }));
      assert.equal(error.code, "ALL_SOURCES_FAILED");
      assert.deepEqual(
        error.reasons.map((reason) => reason.code),
        ["NOT_FOUND", "ACCESS_DENIED", "UNREACHABLE"],
      );
    },
  ),
);

test(
  "redirects are followed, with the range",
  withServer(
    (request, response, count) =>
      request.url === "/file"
        ? serveRanges(content)(request, response, count)
        : response.writeHead(302, { location: "/file" }).end(),
    async (server, destination) => {
      await leavePartial(destination, content.subarray(0, 10));
      await download({ urls: [`${server.url}/link`], destination, sha256: hash });
      assert.deepEqual(server.ranges, ["bytes=10-", "bytes=10-"]);
      await assertWhole(destination);
    },
  ),
);

test("addresses and hashes that are none are refused", () =>
  withFolder(async (folder) => {
    const destination = join(folder, "x");
    for (const options of [
      { urls: ["ftp://x/y"], sha256: hash },
      { urls: ["not an address"], sha256: hash },
      { urls: [], sha256: hash },
      { urls: ["http://127.0.0.1:1/"], sha256: "abc" },
    ]) {
      assert.equal((await failure(download({ ...options, destination }))).code, "INVALID_ARGUMENT");
    }
  }));

test("a folder that cannot be made is a disk error with its path", () =>
  withFolder(async (folder) => {
    await writeFile(join(folder, "file"), "");
    const destination = join(folder, "file", "model.bin");
    const error = await failure(download({ urls: ["http://127.0.0.1:1/"], destination, sha256: hash }));
    assert.match(error.code, /DISK_ERROR|PERMISSION_DENIED/);
    assert.ok(error.message.includes(folder));
  }));

test(
  "a file larger than the disk is refused before a byte of it is read",
  withServer(
    (_request, response) => {
      response.writeHead(200).write("x");
    },
    async (server, destination) => {
      const bytes = Number.MAX_SAFE_INTEGER;
      const error = await failure(download({ urls: [server.url], destination, sha256: hash, bytes }));
      assert.equal(error.code, "DISK_FULL");
      assert.match(error.message, /9007199254740991 more bytes, and \d+ are free/);
    },
  ),
);

test("what the system says of a disk has its own code", () => {
  const code = (name: string) => diskError(Object.assign(new Error(name), { code: name }), "/x").code;
  assert.equal(code("ENOSPC"), "DISK_FULL");
  assert.equal(code("EDQUOT"), "DISK_FULL");
  assert.equal(code("EROFS"), "PERMISSION_DENIED");
  assert.equal(code("EACCES"), "PERMISSION_DENIED");
  assert.equal(code("EIO"), "DISK_ERROR");
});
