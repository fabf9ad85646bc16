export { closestName } from "./closest-name.ts";
export type { HubSource, KnownModel, ModelSource, ModelWheel, WheelSource } from "./known-models.ts";
export { findKnownModel, knownModels } from "./known-models.ts";
export type { PulledModel, PullOptions } from "./pull-model.ts";
export { pullModel } from "./pull-model.ts";
export type { ResolvedModel } from "./resolve-model.ts";
export { resolveModel } from "./resolve-model.ts";
export type { PullProgress } from "./wheel-source.ts";
