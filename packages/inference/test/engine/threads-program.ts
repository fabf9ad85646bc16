// Run by threads.test.ts: the default number of threads, why, and how many threads live after streams with many numbers.
import { readdir } from "node:fs/promises";
import { NativeLibrary } from "../../src/native/native-library.ts";
import type { StreamReport } from "../../src/report.ts";
import { streamConfig } from "./abi-streams.ts";

const [model = "", libraryPath = ""] = process.argv.slice(2);
const library = NativeLibrary.load(libraryPath);
const context = library.create(model);
const stream = await library.open(context, streamConfig, {});
const { threads, threadsReason } = ((await library.report(stream)) as StreamReport).context;
await library.close(stream);
const living = async (): Promise<number> => (await readdir("/proc/self/task")).length;
const before = await living();
for (let count = 2; count <= 20; count++) {
  await library.close(await library.open(context, { ...streamConfig, context_size: 64 }, { threads: count }));
}
const after = await living();
await library.destroy(context);
console.log(JSON.stringify({ threads, threadsReason, before, after }));
