// The packed verifier's entry: `eliza-verify [verify options]`, or `eliza-verify bench [bench options]`.
import { run as benchKernels } from "./bench-kernels.ts";
import { runVerify } from "./run-verify.ts";

const [first, ...rest] = process.argv.slice(2);
if (first === "bench") await benchKernels(rest);
else process.exitCode = await runVerify(process.argv.slice(2));
