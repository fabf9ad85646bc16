export type FetchErrorCode =
  | "INVALID_ARGUMENT"
  | "UNREACHABLE"
  | "TLS_FAILED"
  | "TIMEOUT"
  | "CONNECTION_LOST"
  | "TRUNCATED"
  | "NOT_FOUND"
  | "ACCESS_DENIED"
  | "HTTP_STATUS"
  | "REDIRECT_LOOP"
  | "SIZE_MISMATCH"
  | "HASH_MISMATCH"
  | "DISK_FULL"
  | "PERMISSION_DENIED"
  | "DISK_ERROR"
  | "LOCKED"
  | "CANCELLED"
  | "SOURCE_UNKNOWN"
  | "ARCHIVE_INVALID"
  | "ALL_SOURCES_FAILED";

export interface FetchErrorDetails {
  hint: string;
  cause?: unknown;
  /** Worth another try against the same source. */
  transient?: boolean;
  /** Milliseconds that the server asked to be left alone for. */
  retryAfterMs?: number;
  /** One error a source, in the order they were tried. */
  reasons?: readonly FetchError[];
}

/** What went wrong with a download, with a stable `code` and a `hint` that says what to do. */
export class FetchError extends Error {
  readonly code: FetchErrorCode;
  readonly hint: string;
  readonly transient: boolean;
  readonly retryAfterMs: number | undefined;
  readonly reasons: readonly FetchError[];

  constructor(code: FetchErrorCode, message: string, details: FetchErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "FetchError";
    this.code = code;
    this.hint = details.hint;
    this.transient = details.transient ?? false;
    this.retryAfterMs = details.retryAfterMs;
    this.reasons = details.reasons ?? [];
  }
}

const unreachable = new Set([
  "ENOTFOUND",
  "EAI_AGAIN",
  "EAI_NODATA",
  "EAI_NONAME",
  "ECONNREFUSED",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ENETDOWN",
]);
const timeouts = new Set([
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

/** The first system or TLS code in an error's chain of causes, or undefined. */
export function errorCode(error: unknown): string | undefined {
  for (let depth = 0, at = error; depth < 8 && at instanceof Error; depth++) {
    const code: unknown = Reflect.get(at, "code");
    if (typeof code === "string") return code;
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return undefined;
}

/** Names what Node's fetch threw for `url`. */
export function networkError(error: unknown, url: string): FetchError {
  if (error instanceof FetchError) return error;
  const code = errorCode(error);
  const host = URL.canParse(url) ? new URL(url).host : url;
  if (code !== undefined && unreachable.has(code)) {
    return new FetchError("UNREACHABLE", `${host} could not be reached (${code})`, {
      hint: unreachableHint(),
      cause: error,
      transient: code === "EAI_AGAIN",
    });
  }
  if (code !== undefined && timeouts.has(code)) {
    return new FetchError("TIMEOUT", `${host} did not answer in time (${code})`, {
      hint: "Try again, or use another source.",
      cause: error,
      transient: true,
    });
  }
  if (code !== undefined && /CERT|SSL|TLS|SELF_SIGNED|ISSUER/.test(code)) {
    return new FetchError("TLS_FAILED", `the certificate of ${host} was not accepted (${code})`, {
      hint: "If a proxy of your network signs connections, name its certificate file in NODE_EXTRA_CA_CERTS.",
      cause: error,
    });
  }
  const said = error instanceof Error ? error.message : String(error);
  return new FetchError("CONNECTION_LOST", `the connection to ${host} was lost (${code ?? said})`, {
    hint: "Try again: the download goes on where it stopped.",
    cause: error,
    transient: true,
  });
}

function unreachableHint(): string {
  const proxy = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"].find(
    (name) => process.env[name],
  );
  if (proxy === undefined) return "Check the network connection, or use another source.";
  return `${proxy} is set, but Node reads it only with NODE_USE_ENV_PROXY=1 on Node 24 or newer.`;
}

/** Names what the file system threw for `path`. */
export function diskError(error: unknown, path: string): FetchError {
  if (error instanceof FetchError) return error;
  const code = errorCode(error) ?? "unknown error";
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new FetchError("DISK_FULL", `no space is left for ${path} (${code})`, {
      hint: "Free some space, or name another folder in ELIZA_INFERENCE_CACHE, and run it again: what was received is kept.",
      cause: error,
    });
  }
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
    return new FetchError("PERMISSION_DENIED", `${path} may not be written (${code})`, {
      hint: "Change the folder's permissions, or name another folder in ELIZA_INFERENCE_CACHE.",
      cause: error,
    });
  }
  return new FetchError("DISK_ERROR", `${path} could not be written or read (${code})`, {
    hint: "Check the folder and the disk it is on.",
    cause: error,
  });
}

/** The error of a cancelled download. */
export function cancelled(what: string, cause?: unknown): FetchError {
  return new FetchError("CANCELLED", `${what} was cancelled`, {
    hint: "Run it again: it goes on where it stopped.",
    cause,
  });
}
