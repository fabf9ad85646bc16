import { setTimeout as sleep } from "node:timers/promises";
import { cancelled, FetchError, networkError } from "./errors.ts";

const maxRedirects = 10;

export interface OpenUrlOptions {
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
  /** Milliseconds without a byte after which the connection is given up; 30,000 by default. */
  idleTimeoutMs?: number | undefined;
}

export interface OpenedUrl {
  /** Where the redirects ended. */
  url: string;
  status: number;
  headers: Headers;
  /** The body in pieces, with the idle timeout and typed errors; read it to its end or call `cancel`. */
  body(): AsyncGenerator<Uint8Array, void, undefined>;
  cancel(): Promise<void>;
}

/**
 * GET with redirects followed by hand (at most 10, never from https to http) and typed errors.
 * Statuses other than 2xx, and 416, are errors; 416 is returned, because it answers a resume.
 *
 * @throws FetchError
 */
export async function openUrl(address: string, options: OpenUrlOptions = {}): Promise<OpenedUrl> {
  const idleTimeoutMs = options.idleTimeoutMs ?? 30_000;
  const stalled = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stalled.signal]) : stalled.signal;
  const timer = setTimeout(() => stalled.abort(), idleTimeoutMs);
  timer.unref();
  const named = (error: unknown, url: string): FetchError => {
    if (options.signal?.aborted) return cancelled("the download", options.signal.reason);
    if (!stalled.signal.aborted) return networkError(error, url);
    return new FetchError("TIMEOUT", `${new URL(url).host} sent nothing for ${idleTimeoutMs / 1000} s`, {
      hint: "Try again: the download goes on where it stopped.",
      cause: error,
      transient: true,
    });
  };

  let url = checkUrl(address);
  const seen = new Set<string>();
  for (;;) {
    if (seen.has(url) || seen.size > maxRedirects) {
      clearTimeout(timer);
      throw new FetchError("REDIRECT_LOOP", `${address} was redirected ${seen.size} times without an end`, {
        hint: "The source is broken: use another one.",
      });
    }
    seen.add(url);
    let response: Response;
    try {
      response = await fetch(url, {
        headers: { "accept-encoding": "identity", ...options.headers },
        redirect: "manual",
        signal,
      });
    } catch (error) {
      clearTimeout(timer);
      throw named(error, url);
    }
    timer.refresh();
    const location = response.headers.get("location");
    if ([301, 302, 303, 307, 308].includes(response.status) && location !== null) {
      await response.body?.cancel().catch(() => {});
      try {
        url = redirected(url, location);
      } catch (error) {
        clearTimeout(timer);
        throw error;
      }
      continue;
    }
    const at = url;
    const cancel = async (): Promise<void> => {
      clearTimeout(timer);
      await response.body?.cancel().catch(() => {});
    };
    if (!response.ok && response.status !== 416) {
      await cancel();
      throw statusError(response, at);
    }
    async function* body(): AsyncGenerator<Uint8Array, void, undefined> {
      try {
        if (response.body) {
          for await (const piece of response.body) {
            timer.refresh();
            yield piece as Uint8Array;
          }
        }
      } catch (error) {
        throw named(error, at);
      } finally {
        clearTimeout(timer);
      }
    }
    return { url: at, status: response.status, headers: response.headers, body, cancel };
  }
}

/**
 * A text of at most `maxBytes` (4 MiB by default) from `url`, with `attempts` tries (3 by default).
 *
 * @throws FetchError
 */
export async function fetchText(
  url: string,
  options: OpenUrlOptions & { maxBytes?: number; attempts?: number } = {},
): Promise<{ url: string; text: string; contentType: string }> {
  const maxBytes = options.maxBytes ?? 4 * 1024 * 1024;
  const attempts = options.attempts ?? 3;
  for (let attempt = 1; ; attempt++) {
    try {
      const opened = await openUrl(url, options);
      const pieces: Uint8Array[] = [];
      let length = 0;
      for await (const piece of opened.body()) {
        length += piece.length;
        if (length > maxBytes) {
          throw new FetchError("SIZE_MISMATCH", `${url} is larger than ${maxBytes} bytes`, {
            hint: "This is not the page that was expected: use another source.",
          });
        }
        pieces.push(piece);
      }
      return {
        url: opened.url,
        text: Buffer.concat(pieces).toString("utf8"),
        contentType: opened.headers.get("content-type") ?? "",
      };
    } catch (error) {
      const named = networkError(error, url);
      if (!named.transient || attempt >= attempts) throw named;
      await backOff(attempt, named, options.signal);
    }
  }
}

/** Waits before try number `attempt` + 1: 0.5 s, 1 s, 2 s … up to 30 s, or what the server asked for. */
export async function backOff(
  attempt: number,
  reason: FetchError,
  signal: AbortSignal | undefined,
): Promise<void> {
  const delay = Math.min(30_000, reason.retryAfterMs ?? backOffMs(attempt));
  try {
    await sleep(delay, undefined, signal ? { signal } : {});
  } catch (error) {
    throw cancelled("the download", error);
  }
}

export function backOffMs(attempt: number): number {
  return Math.min(30_000, 500 * 2 ** (attempt - 1));
}

function checkUrl(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== "https:" && url?.protocol !== "http:") {
    throw new FetchError("INVALID_ARGUMENT", `"${address}" is not an http or https address`, {
      hint: "Give a whole address, such as https://example.org/model.gguf.",
    });
  }
  url.hash = "";
  return url.href;
}

function redirected(from: string, location: string): string {
  if (!URL.canParse(location, from)) {
    throw new FetchError("HTTP_STATUS", `${from} was redirected to "${location}", which is no address`, {
      hint: "The source is broken: use another one.",
    });
  }
  const to = checkUrl(new URL(location, from).href);
  if (from.startsWith("https:") && !to.startsWith("https:")) {
    throw new FetchError("HTTP_STATUS", `${from} was redirected to ${to}, which is not encrypted`, {
      hint: "Use another source.",
    });
  }
  return to;
}

function statusError(response: Response, url: string): FetchError {
  const { status } = response;
  const said = `${url} answered ${status}${response.statusText ? ` ${response.statusText}` : ""}`;
  if (status === 404 || status === 410) {
    return new FetchError("NOT_FOUND", said, { hint: "The file is not there: check the address." });
  }
  if (status === 401 || status === 403 || status === 451) {
    return new FetchError("ACCESS_DENIED", said, {
      hint: "The source wants a login or an accepted licence: use another one, or fetch the file by hand.",
    });
  }
  const transient = status === 408 || status === 425 || status === 429 || status >= 500;
  const retryAfter = response.headers.get("retry-after");
  const seconds = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
  return new FetchError("HTTP_STATUS", said, {
    hint: transient ? "Try again later, or use another source." : "Check the address, or use another source.",
    transient,
    ...(seconds === undefined ? {} : { retryAfterMs: seconds * 1000 }),
  });
}
