// A process of its own for each device and configuration: drivers read their environment once, and may crash.
import { VerifyError } from "./errors.ts";
import { harnessHash } from "./harness-hash.ts";
import { kernelById } from "./kernels.ts";
import { openDevice } from "./open-device.ts";
import { planOf } from "./plan.ts";
import { runKernel } from "./run-kernel.ts";
import type { WorkerMessage, WorkerTask } from "./worker-protocol.ts";

/** To the parent; without one (under a sanitizer, say) to the output. */
function send(message: WorkerMessage): void {
  if (process.send) process.send(message);
  else console.log(JSON.stringify(message));
}

const task = JSON.parse(process.argv[2] ?? "{}") as WorkerTask;
try {
  using device = openDevice(task.device, task.configuration);
  send({ kind: "opened", description: device.description });
  for (const id of task.kernels) {
    const kernel = kernelById(id)!;
    const plan = planOf(kernel, task.short).filter(({ name }) => name.includes(task.only));
    const reasons = plan.map((planned) => device.lacks?.(kernel, planned.formats));
    if (reasons.every((reason) => reason !== undefined)) {
      send({ kind: "lacking", kernel: id, reason: reasons[0] ?? "no case" });
      continue;
    }
    send({ kind: "started", kernel: id });
    const result = await runKernel(device, kernel, plan);
    send({ kind: "finished", result, harness: harnessHash(task.device, kernel) });
  }
} catch (error) {
  if (!(error instanceof VerifyError)) throw error;
  send({ kind: "refused", code: error.code, message: error.message, hint: error.hint });
}
process.disconnect?.();
