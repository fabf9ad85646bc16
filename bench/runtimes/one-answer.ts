/** One answer of one model, as a line of JSON: what answered, its text, times and the process's peak memory. */
import { readFile } from "node:fs/promises";
import { Inference } from "eliza-inference";

const [model = "", question = "", maxTokens = "32"] = process.argv.slice(2);
const started = performance.now();
await using inference = await Inference.open(model, { contextSize: 512 });
const openMs = performance.now() - started;
const stream = inference.stream([{ role: "user", content: question }], { maxTokens: Number(maxTokens) });
let text = "";
for await (const piece of stream) text += piece.text;
const { timing } = await stream.report();
const { runtime, runtimeVersion, device, capabilities, candidates } = inference.report();
const status = await readFile("/proc/self/status", "utf8").catch(() => "");
const peakMiB = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
const report = { runtime, runtimeVersion, device, capabilities, candidates };
console.log(JSON.stringify({ text, openMs, timing, peakMiB, report }));
