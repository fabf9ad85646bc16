import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { formatHashes } from "./browser-page/format-hashes.ts";

const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const browserPath = process.env.CHROMIUM_PATH ?? BROWSERS.find((path) => existsSync(path));
const folder = new URL("browser-page/", import.meta.url);

async function pageScript(): Promise<string> {
  const built = await build({
    entryPoints: [fileURLToPath(new URL("page.ts", folder))],
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    logLevel: "silent",
  });
  return built.outputFiles[0]!.text;
}

test("the package runs in a browser: a page encodes and decodes to the hashes that Node gets", {
  skip: browserPath ? false : "no Chromium here (set CHROMIUM_PATH)",
}, async () => {
  const files: Record<string, [string, string]> = {
    "/": ["text/html", readFileSync(new URL("index.html", folder), "utf8")],
    "/page.js": ["text/javascript", await pageScript()],
  };
  const server = createServer((request, response) => {
    const [type, body] = files[request.url ?? ""] ?? ["text/plain", ""];
    response.writeHead(body ? 200 : 404, { "content-type": type }).end(body);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const browser = await chromium.launch({ executablePath: browserPath!, args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage();
    const failures: string[] = [];
    page.on("pageerror", (error) => failures.push(error.message));
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const output = page.locator("#hashes", { hasNotText: "computing" });
    await output.waitFor({ timeout: 60_000 });
    assert.deepEqual(failures, []);
    assert.deepEqual((await output.textContent())?.split("\n"), formatHashes());
  } finally {
    await browser.close();
    server.close();
  }
});
