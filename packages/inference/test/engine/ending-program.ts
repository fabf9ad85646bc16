// Run by ending.test.ts: begins a generation and ends its process in the way that is named.
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { Inference } from "../../src/inference.ts";
import { calibrate } from "../../src/maps/index.ts";

const [model = "", libraryPath = "", way = ""] = isMainThread ? process.argv.slice(2) : workerData;
const options = {
  libraryPath,
  ...(model.endsWith(".gguf") && { contextSize: 2048, cacheTypeK: "turbo4" }),
};
const prompt = "Once upon a time there was a small house by the sea, and in it lived";

async function begin(): Promise<void> {
  const inference = await Inference.open(model, options);
  const stream = inference.stream(prompt, { maxTokens: 1500, temperature: 1.5, seed: 1 });
  await stream.next();
}

async function beginPrompt(): Promise<void> {
  const inference = await Inference.open(model, options);
  void inference.stream(prompt.repeat(100), { maxTokens: 4 }).next();
  await new Promise((resolve) => setTimeout(resolve, 100));
}

if (!isMainThread) {
  await begin();
  parentPort?.postMessage("generating");
  setInterval(() => undefined, 1000);
} else if (way.startsWith("terminate")) {
  for (let round = 0; round < (way === "terminate again" ? 3 : 1); round++) {
    // a worker's own entry cannot be TypeScript on Node 20
    const tsx = JSON.stringify(import.meta.resolve("tsx/esm/api"));
    const entry = `import(${tsx}).then(({ register }) => (register(), import(${JSON.stringify(import.meta.url)})))`;
    const worker = new Worker(entry, { eval: true, workerData: [model, libraryPath, way] });
    await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
    await worker.terminate();
  }
  if (way === "terminate again") {
    await using inference = await Inference.open(model, options);
    console.log((await inference.stream(prompt, { maxTokens: 4 }).text()).length > 0 ? "goes on" : "");
    console.log(process.memoryUsage.rss());
  }
} else if (way === "one next") {
  await begin();
} else if (way === "exit") {
  await begin();
  process.exit(7);
} else if (way === "exit in a prompt") {
  await beginPrompt();
  process.exit(7);
} else if (way === "uncaught") {
  await begin();
  setImmediate(() => {
    throw new Error("on purpose");
  });
} else if (way === "SIGTERM") {
  await begin();
  process.kill(process.pid, "SIGTERM");
  setInterval(() => undefined, 1000);
} else if (way === "SIGINT handled") {
  process.once("SIGINT", () => process.exit(130));
  await begin();
  process.kill(process.pid, "SIGINT");
  setInterval(() => undefined, 1000);
} else if (way === "exit in a calibration") {
  void calibrate(model, {
    libraryPath,
    tokens: 2048,
    outPath: join(tmpdir(), `never-${process.pid}.kvmap`),
  }).catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 600));
  process.exit(7);
} else if (way === "exit while loading") {
  void Inference.open(model, options);
  await new Promise((resolve) => setTimeout(resolve, 20));
  process.exit(7);
}
