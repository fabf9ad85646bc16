import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, test } from "node:test";
import { InferenceError } from "../../src/errors.ts";
import { androidAiCore, appleFoundationModels, openAICompatible } from "../../src/outside/index.ts";

interface Asked {
  url: string;
  authorization: string | undefined;
  body: Record<string, unknown>;
  gone: Promise<void>;
}

type Answer = (response: ServerResponse, asked: Asked) => void | Promise<void>;

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** A server that gives these answers in turn, the last one for ever. */
async function serve(...answers: Answer[]): Promise<{ baseUrl: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const gone = new Promise<void>((resolve) => response.on("close", () => resolve()));
    const { url = "", headers } = request;
    const one = { url, authorization: headers.authorization, body: JSON.parse(text), gone };
    asked.push(one);
    await answers[Math.min(asked.length, answers.length) - 1]!(response, one);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked };
}

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const delta = (content: string, finish_reason: string | null = null) => ({
  choices: [{ delta: { content }, finish_reason }],
});

/** Streams the pieces, cut anywhere, with usage and an end. */
const answering =
  (pieces: string[]): Answer =>
  async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const whole = [
      ...pieces.map((piece) => event(delta(piece))),
      event(delta("", "stop")),
      event({ choices: [], usage: { prompt_tokens: 11, completion_tokens: 5 } }),
      "data: [DONE]\n\n",
    ].join("");
    const bytes = Buffer.from(whole);
    for (let at = 0; at < bytes.length; at += 7) {
      response.write(bytes.subarray(at, at + 7));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  };

const refusing =
  (status: number, error: unknown, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response
      .writeHead(status, { "content-type": "application/json", ...headers })
      .end(JSON.stringify({ error }));
  };

const open = (baseUrl: string, more = {}) =>
  openAICompatible.open({
    baseUrl,
    model: "some-model",
    backoffMs: 1,
    keyVariable: "ELIZA_TEST_KEY",
    ...more,
  });

const refusal =
  (code: string, words = /./) =>
  (error: unknown) => {
    assert.ok(error instanceof InferenceError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, words);
    return true;
  };

describe("the OpenAI-compatible adapter", () => {
  test("streams what the server sends, whole characters and all, and reports it", async () => {
    const { baseUrl, asked } = await serve(answering(["Das ", "Meer ist ", "schön 漢字 🚀"]));
    process.env.ELIZA_TEST_KEY = "secret";
    cleanups.push(() => delete process.env.ELIZA_TEST_KEY);
    await using model = await open(baseUrl);
    const messages = [{ role: "user" as const, content: "Wie ist das Meer?" }];
    const stream = model.stream(messages, { maxTokens: 9, temperature: 0.5, topP: 0.9, seed: 4 });
    assert.equal(asked.length, 0);
    const chunks: string[] = [];
    for await (const { text, tokens } of stream) {
      chunks.push(text);
      assert.deepEqual(tokens, []);
    }
    assert.deepEqual(chunks, ["Das ", "Meer ist ", "schön 漢字 🚀"]);
    assert.equal(asked[0]!.url, "/v1/chat/completions");
    assert.equal(asked[0]!.authorization, "Bearer secret");
    assert.deepEqual(asked[0]!.body, {
      model: "some-model",
      messages,
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 9,
      temperature: 0.5,
      top_p: 0.9,
      seed: 4,
    });
    const report = stream.report();
    assert.equal(report.runtime, "openai-compatible");
    assert.equal(report.finishReason, "stop");
    assert.equal(report.timing.promptTokens, 11);
    assert.equal(report.timing.decodeTokens, 5);
    assert.ok(report.timing.timeToFirstTokenMs > 0);
    assert.equal(report.retries, 0);
  });

  test("a prompt as it stands, and no key where none is set", async () => {
    const { baseUrl, asked } = await serve((response) => {
      response.writeHead(200);
      response.end(`${event({ choices: [{ text: "more", finish_reason: "length" }] })}data: [DONE]\n\n`);
    });
    await using model = await open(`${baseUrl}/`);
    const stream = model.stream("Once");
    assert.equal(await stream.text(), "more");
    assert.equal(stream.report().finishReason, "length");
    assert.equal(asked[0]!.url, "/v1/completions");
    assert.equal(asked[0]!.body.prompt, "Once");
    assert.equal(asked[0]!.authorization, undefined);
  });

  test("tries again after failures that may pass, as often as it was told", async () => {
    const busy = refusing(503, { message: "busy" });
    const limited = refusing(429, { message: "slower" }, { "retry-after": "0" });
    const first = await serve(busy, limited, answering(["ok"]));
    const model = await open(first.baseUrl);
    const stream = model.stream("x");
    assert.equal(await stream.text(), "ok");
    assert.equal(stream.report().retries, 2);
    assert.equal(first.asked.length, 3);
    const second = await serve(busy);
    await assert.rejects(
      (await open(second.baseUrl, { retries: 1 })).stream("x").text(),
      refusal("BACKEND_UNAVAILABLE", /503: busy/),
    );
    assert.equal(second.asked.length, 2);
  });

  test("does not try again what will not pass, and says what it was", async () => {
    for (const [status, error, code] of [
      [401, { message: "no key" }, "ACCESS_DENIED"],
      [404, { message: "no model" }, "MODEL_NOT_FOUND"],
      [400, { message: "too long", code: "context_length_exceeded" }, "CONTEXT_FULL"],
      [422, { message: "no" }, "INVALID_ARGUMENT"],
    ] as const) {
      const { baseUrl, asked } = await serve(refusing(status, error));
      process.env.ELIZA_TEST_KEY = "sk-never-shown";
      const refused = (await open(baseUrl)).stream("x").text();
      await assert.rejects(refused, (thrown: unknown) => {
        assert.ok(!JSON.stringify(Object.assign({}, thrown, { m: String(thrown) })).includes("never-shown"));
        return refusal(code, new RegExp(`${status}: ${error.message}`))(thrown);
      });
      delete process.env.ELIZA_TEST_KEY;
      assert.equal(asked.length, 1);
    }
  });

  test("an aborted signal, a left loop and a closed model end the request", async () => {
    const endless: Answer = async (response, { gone }) => {
      response.writeHead(200);
      response.write(event(delta("tick")));
      await gone;
    };
    const { baseUrl, asked } = await serve(endless);
    const model = await open(baseUrl);
    const controller = new AbortController();
    const aborted = model.stream("x", { signal: controller.signal });
    assert.equal((await aborted.next()).value?.text, "tick");
    const waiting = aborted.next();
    controller.abort(new Error("enough"));
    await assert.rejects(waiting, (error: unknown) => {
      assert.equal(((error as Error).cause as Error).message, "enough");
      return refusal("CANCELLED")(error);
    });
    assert.equal(aborted.report().finishReason, "cancelled");
    await asked[0]!.gone;

    for await (const _ of model.stream("x")) break;
    await asked[1]!.gone;

    const closed = model.stream("x");
    await closed.next();
    const pending = closed.next();
    await model.close();
    await assert.rejects(pending, refusal("CLOSED"));
    await asked[2]!.gone;
    await assert.rejects(model.stream("x").text(), refusal("CLOSED"));
  });

  test("a cut answer, one that is no JSON, an error in the middle, nobody there", async () => {
    const sending =
      (...pieces: string[]): Answer =>
      (response) => {
        response.writeHead(200);
        response.end(pieces.join(""));
      };
    const cases: [Answer, string, RegExp][] = [
      [sending(event(delta("half"))), "CONNECTION_LOST", /before its end/],
      [
        (response) => {
          response.writeHead(200);
          response.write(event(delta("half")), () => response.destroy());
        },
        "CONNECTION_LOST",
        /before its end/,
      ],
      [sending("data: {oops\n\n"), "BACKEND_UNAVAILABLE", /no JSON: \{oops/],
      [sending(event({ error: { message: "out of memory" } })), "BACKEND_UNAVAILABLE", /out of memory/],
    ];
    for (const [answer, code, words] of cases) {
      const { baseUrl } = await serve(answer);
      await assert.rejects((await open(baseUrl)).stream("x").text(), refusal(code, words));
    }
    const { baseUrl } = await serve(answering([]));
    for (const cleanup of cleanups.splice(0)) cleanup();
    await assert.rejects(
      (await open(baseUrl, { retries: 0 })).stream("x").text(),
      refusal("UNREACHABLE", /ECONNREFUSED/),
    );
  });

  test("options that the protocol has no word for, and addresses that are none, are refused", async () => {
    const { baseUrl } = await serve(answering(["never"]));
    const model = await open(baseUrl);
    assert.throws(
      () => model.stream("x", { topK: 4, temperature: 1 }),
      refusal("NOT_IMPLEMENTED", /capability topK/),
    );
    assert.throws(() => model.stream("x", { maxTokens: 0 }), refusal("INVALID_ARGUMENT"));
    for (const address of ["nowhere", "file:///etc/passwd", "http://me:secret@host/v1"]) {
      await assert.rejects(open(address), refusal("INVALID_ARGUMENT"));
    }
    await assert.rejects(openAICompatible.open({ baseUrl, model: "" }), refusal("INVALID_ARGUMENT"));
  });
});

test("models of the system are detected and refused, with the reason", async () => {
  const machines = [
    [
      appleFoundationModels({ platform: "linux", arch: "x64", release: "6.1" }),
      /Apple's systems, this is linux/,
    ],
    [appleFoundationModels({ platform: "darwin", arch: "x64", release: "25.0" }), /Apple silicon/],
    [
      appleFoundationModels({ platform: "darwin", arch: "arm64", release: "24.6.0" }),
      /macOS 26, this is Darwin 24/,
    ],
    [appleFoundationModels({ platform: "darwin", arch: "arm64", release: "25.0.0" }), /no bridge/],
    [
      androidAiCore({ platform: "linux", arch: "arm64", release: "6.1" }),
      /service of Android, this is linux/,
    ],
    [androidAiCore({ platform: "android", arch: "arm64", release: "6.1" }), /no bridge/],
  ] as const;
  for (const [adapter, words] of machines) {
    assert.equal(adapter.detect().available, false);
    assert.match(adapter.detect().reason, words);
    await assert.rejects(adapter.open({}), refusal("BACKEND_UNAVAILABLE", words));
  }
});
