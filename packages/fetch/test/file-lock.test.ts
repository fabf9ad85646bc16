import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { FetchError, withFileLock } from "../src/index.ts";
import { randomContent, serveRanges, sha256, startServer, withFolder } from "./file-server.ts";

test("holders take turns", () =>
  withFolder(async (folder) => {
    const path = join(folder, "x.lock");
    let inside = 0;
    let most = 0;
    const one = () =>
      withFileLock(path, {}, async () => {
        most = Math.max(most, ++inside);
        await new Promise((resolve) => setTimeout(resolve, 20));
        inside--;
      });
    await Promise.all([one(), one(), one(), one()]);
    assert.equal(most, 1);
    assert.deepEqual(await readdir(folder), []);
  }));

test("the lock of a dead process is taken over, also by many at once", () =>
  withFolder(async (folder) => {
    const path = join(folder, "x.lock");
    const child = spawn(process.execPath, ["-e", ""]);
    await once(child, "exit");
    await writeFile(path, JSON.stringify({ pid: child.pid, host: hostname(), token: "old" }));
    let inside = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 8 }, () =>
        withFileLock(path, {}, async () => {
          most = Math.max(most, ++inside);
          await new Promise((resolve) => setTimeout(resolve, 5));
          inside--;
        }),
      ),
    );
    assert.equal(most, 1);
    assert.deepEqual(await readdir(folder), []);
  }));

test("a lock that nobody touches any more is taken over, and a live one is not", () =>
  withFolder(async (folder) => {
    const path = join(folder, "x.lock");
    await writeFile(path, JSON.stringify({ pid: 1, host: "elsewhere", token: "other" }));
    let holder = "";
    await assert.rejects(
      withFileLock(path, { timeoutMs: 1, onWait: (name) => (holder = name) }, async () => {}),
      (error) => error instanceof FetchError && error.code === "LOCKED",
    );
    assert.equal(existsSync(path), true);
    const old = new Date(Date.now() - 60_000);
    await utimes(path, old, old);
    assert.equal(await withFileLock(path, {}, async () => 7), 7);
    assert.ok(holder === "" || holder === "process 1 on elsewhere");
  }));

test("two processes that want the same file both get it, and it is fetched once", () =>
  withFolder(async (folder) => {
    const content = randomContent(400_000);
    const whole = serveRanges(content);
    const server = await startServer((request, response, count) =>
      setTimeout(() => whole(request, response, count), 200),
    );
    try {
      const destination = join(folder, "model.bin");
      const index = JSON.stringify(new URL("../src/index.ts", import.meta.url).href);
      const script = `import { download } from ${index};
        const result = await download(${JSON.stringify({ urls: [server.url], destination, sha256: sha256(content) })});
        console.log(result.alreadyThere);`;
      const file = join(folder, "run.mts");
      await writeFile(file, script);
      const runner = fileURLToPath(new URL("../../../scripts/ts.mjs", import.meta.url));
      const run = async (): Promise<string> => {
        const child = spawn(process.execPath, [runner, file], { stdio: ["ignore", "pipe", "inherit"] });
        let said = "";
        child.stdout.on("data", (piece) => (said += piece));
        await once(child, "close");
        return said.trim();
      };
      assert.deepEqual((await Promise.all([run(), run()])).sort(), ["false", "true"]);
      assert.equal(server.ranges.length, 1);
      assert.ok(content.equals(await readFile(destination)));
    } finally {
      await server.close();
    }
  }));
