import { setTimeout as sleep } from "node:timers/promises";
import { InferenceError, type InferenceErrorCode } from "../errors.ts";

export interface RequestSettings {
  url: string;
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
  /** further tries after a failure that may pass */
  retries: number;
  /** before the first of them, doubled for each one after it; milliseconds */
  backoffMs: number;
  onRetry: () => void;
}

const passing = new Set([408, 425, 429, 500, 502, 503, 504]);
/** No server's word makes a caller wait longer; milliseconds. */
const LONGEST_WAIT = 30_000;

/**
 * Sends a request until it is answered well, tries again after failures that may pass.
 *
 * @throws InferenceError UNREACHABLE, ACCESS_DENIED, BACKEND_UNAVAILABLE, MODEL_NOT_FOUND, CONTEXT_FULL,
 *   INVALID_ARGUMENT
 */
export async function request(settings: RequestSettings): Promise<Response> {
  const { url, headers, body, signal } = settings;
  for (let attempt = 0; ; attempt++) {
    let failure: InferenceError;
    let wait = settings.backoffMs * 2 ** attempt;
    try {
      const response = await fetch(url, { method: "POST", headers, body, signal });
      if (response.ok) return response;
      failure = await refusalOf(response, url);
      if (!passing.has(response.status)) throw failure;
      wait = waitAsked(response) ?? wait;
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof InferenceError) throw cause;
      failure = unreachable(url, cause);
    }
    if (attempt >= settings.retries) throw failure;
    settings.onRetry();
    await sleep(Math.min(wait, LONGEST_WAIT), undefined, { signal });
  }
}

function unreachable(url: string, cause: unknown): InferenceError {
  const { message, cause: inner } = cause as Error & { cause?: { code?: string } };
  const why = inner?.code ?? message;
  return new InferenceError("UNREACHABLE", `${url} cannot be reached: ${why}`, "Check the address.", {
    cause,
  });
}

async function refusalOf(response: Response, url: string): Promise<InferenceError> {
  const text = (await response.text().catch(() => "")).slice(0, 2000);
  let said: { message?: unknown; code?: unknown } = {};
  try {
    const parsed = JSON.parse(text) as { error?: { message?: unknown; code?: unknown } };
    said = parsed.error ?? {};
  } catch {
    // no JSON: the text itself says what is wrong
  }
  const message = `${url} answered ${response.status}: ${String(said.message ?? text) || response.statusText}`;
  const [code, hint] = meaningOf(response.status, said.code);
  return new InferenceError(code, message, hint);
}

function meaningOf(status: number, code: unknown): [InferenceErrorCode, string] {
  if (code === "context_length_exceeded") return ["CONTEXT_FULL", "Shorten the prompt."];
  if (status === 401 || status === 403)
    return ["ACCESS_DENIED", "Check the key in its environment variable."];
  if (status === 404) return ["MODEL_NOT_FOUND", "Check the address and the model's name."];
  if (status >= 400 && status < 500 && !passing.has(status)) {
    return ["INVALID_ARGUMENT", "The server does not take this request."];
  }
  return ["BACKEND_UNAVAILABLE", "Try again later."];
}

function waitAsked(response: Response): number | undefined {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return seconds >= 0 ? seconds * 1000 : undefined;
}
