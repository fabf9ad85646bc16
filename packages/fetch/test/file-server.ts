import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Handler = (request: IncomingMessage, response: ServerResponse, count: number) => void;

export interface FileServer {
  url: string;
  /** The range header of every request so far, "" where there was none. */
  ranges: string[];
  close(): Promise<void>;
}

/** A server on 127.0.0.1 that gives every request to `handler` with its number, from 1. */
export async function startServer(handler: Handler): Promise<FileServer> {
  const ranges: string[] = [];
  const server = createServer((request, response) => {
    ranges.push(request.headers.range ?? "");
    handler(request, response, ranges.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    ranges,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers as a plain file server that knows ranges, entity tags and If-Range. */
export function serveRanges(content: Buffer, etag?: string): Handler {
  return (request, response) => {
    const wanted = /^bytes=(\d+)-$/.exec(request.headers.range ?? "");
    const ifRange = request.headers["if-range"];
    const headers: Record<string, string> = etag === undefined ? {} : { etag };
    if (wanted && (ifRange === undefined || ifRange === etag)) {
      const from = Number(wanted[1]);
      if (from >= content.length) {
        response.writeHead(416, { "content-range": `bytes */${content.length}` }).end();
        return;
      }
      response.writeHead(206, {
        ...headers,
        "content-range": `bytes ${from}-${content.length - 1}/${content.length}`,
        "content-length": String(content.length - from),
      });
      response.end(content.subarray(from));
      return;
    }
    response.writeHead(200, { ...headers, "content-length": String(content.length) });
    response.end(content);
  };
}

export function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

export function randomContent(bytes: number): Buffer {
  return randomBytes(bytes);
}

export async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "eliza-fetch-"));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
