import { execFile, spawn } from "node:child_process";
import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { userFolders } from "@eliza-inference/fetch";

const run = promisify(execFile);
const VERSION = "3.21.1";

/**
 * node-llama-cpp with its own prebuilt library, installed once below the user's cache folder: only this platform's
 * binary, since its optional packages are many. Returns the folder to resolve it from.
 */
export async function installNodeLlamaCpp(): Promise<string> {
  const folder = join(userFolders().cache, "peers", `node-llama-cpp-${VERSION}`);
  const done = join(folder, "installed");
  if (await stat(done).catch(() => undefined)) return writeProgram(folder);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{"private": true}\n');
  const platform =
    { linux: "linux", darwin: "mac", win32: "win" }[process.platform as string] ?? process.platform;
  const binary = `@node-llama-cpp/${platform}-${process.arch}${process.platform === "darwin" && process.arch === "arm64" ? "-metal" : ""}`;
  const flags = ["install", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund"];
  await run("npm", [...flags, `node-llama-cpp@${VERSION}`, `${binary}@${VERSION}`], { cwd: folder });
  await writeFile(done, "");
  return writeProgram(folder);
}

// A file, since the peer tests its binary in a child process that inherits this one's arguments.
async function writeProgram(folder: string): Promise<string> {
  await writeFile(join(folder, "generate.mjs"), PROGRAM);
  return folder;
}

const PROGRAM = `
import { getLlama } from "node-llama-cpp";
const [model, maxTokens, threads, tokens] = process.argv.slice(2);
const llama = await getLlama({ build: "never", gpu: false, logLevel: "disabled", progressLogs: false, maxThreads: Number(threads) });
const loaded = await llama.loadModel({ modelPath: model });
const context = await loaded.createContext({ contextSize: 4096, threads: Number(threads), batchSize: 512 });
const sequence = context.getSequence();
const start = performance.now();
let first = 0, last = 0, count = 0;
for await (const token of sequence.evaluate(JSON.parse(tokens), { temperature: 0 })) {
  last = performance.now();
  if (count++ === 0) first = last;
  if (count === Number(maxTokens) || loaded.isEogToken(token)) break;
}
console.log(JSON.stringify({ tokens: count, firstTokenMs: first - start, decodeMs: last - first, tokensPerSecond: (count - 1) * 1000 / (last - first) }));
await context.dispose(); await loaded.dispose(); await llama.dispose();
`;

/** One greedy generation of the peer in a process of its own; its own figures. */
export async function runNodeLlamaCpp(
  folder: string,
  model: string,
  maxTokens: number,
  threads: number,
  tokens: readonly number[],
): Promise<{ tokensPerSecond: number; firstTokenMs: number; tokens: number }> {
  const args = [
    join(folder, "generate.mjs"),
    model,
    String(maxTokens),
    String(threads),
    JSON.stringify(tokens),
  ];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const status = await new Promise((resolve) => child.on("close", resolve));
  if (status !== 0) throw new Error(`node-llama-cpp ended with ${status}`);
  return JSON.parse(output.trim().split("\n").at(-1) ?? "");
}
