/** Speed of the score kernels on a GPU, by packages/verify: the packed verifier runs the same on a lab machine. */
export { benchKernels as run } from "@eliza-inference/verify";
