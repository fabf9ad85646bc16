export { findTarget, hostLibc, hostTargets, type Machine, targetId } from "./find-target.ts";
export type { Target, TargetRunner, TargetToolchain, TargetVariant } from "./target.ts";
export { TARGETS } from "./targets.ts";
