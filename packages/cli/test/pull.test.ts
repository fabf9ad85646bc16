import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { jsonLines, runProgram } from "./run-program.ts";

async function withServer(status: number, work: (url: string) => Promise<void>): Promise<void> {
  const server = createServer((_, response) => {
    if (status === 200) response.writeHead(200, { "content-length": "98362432" }).write("GGUF");
    else response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("when every source fails, all reasons are told", () =>
  withServer(404, async (url) => {
    const args = ["pull", "smollm2-135m", "--hub", url, "--index", `${url}/simple`];
    const ran = await runProgram(args);
    assert.equal(ran.status, 1);
    assert.equal(ran.out, "");
    assert.match(ran.err, /error ALL_SOURCES_FAILED.*\n {2}NOT_FOUND: .*\n {2}NOT_FOUND: /);
    const json = await runProgram([...args, "--json", "--source", "wheels"]);
    assert.equal(jsonLines(json.out).at(-1)?.code, "NOT_FOUND");
    assert.equal(json.err, "");
  }));

test("Ctrl-C ends a pull with 130 and says how to go on", () =>
  withServer(200, async (url) => {
    const ran = await runProgram(["pull", "smollm2-135m", "--hub", url, "--json"], {
      onOut: (out, child) => out.includes('"progress"') && child.kill("SIGINT"),
    });
    assert.equal(ran.status, 130, ran.err);
    const lines = jsonLines(ran.out);
    assert.equal(lines[0]?.event, "progress");
    assert.equal(lines.at(-1)?.code, "CANCELLED");
    assert.match(String(lines.at(-1)?.hint), /goes on where it stopped/);
  }));

test("names that are none are told", async () => {
  assert.match((await runProgram(["pull", "gemma-270m"])).err, /Did you mean gemma3-270m\?/);
  const none = await runProgram(["pull"]);
  assert.equal(none.status, 2);
  assert.match(none.err, /Known models: smollm2-135m, gemma3-270m/);
});

test("models lists the known ones and what is here", async () => {
  const text = await runProgram(["models"]);
  assert.equal(text.status, 0);
  assert.match(text.out, /smollm2-135m .*Apache-2\.0\n.*not here: eliza-inference pull smollm2-135m/);
  const lines = jsonLines((await runProgram(["models", "--json"])).out);
  assert.deepEqual(
    lines.map(({ event, name, path }) => ({ event, name, path })),
    ["smollm2-135m", "gemma3-270m"].map((name) => ({ event: "model", name, path: null })),
  );
});

test("doctor looks at everything and says what to do next", async () => {
  const ran = await runProgram(["doctor", "--json"]);
  const lines = jsonLines(ran.out);
  const names = lines.filter((line) => line.event === "check").map((line) => line.name);
  for (const name of ["Node", "cmake", "ninja", "C compiler", "native library", "memory", "processor"]) {
    assert.ok(names.includes(name), name);
  }
  assert.equal(new Set(names).size, names.length, `nothing twice: ${names}`);
  const library = lines.find((line) => line.name === "native library");
  assert.equal(library?.state, "missing", "the cache of this test is empty");
  assert.equal(ran.status, 1);
  const next = lines.at(-1);
  assert.equal(next?.event, "next");
  assert.equal(typeof next?.next, "string");
});
