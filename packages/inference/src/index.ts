export {
  type Artifact,
  type BundleManifest,
  type CheckBundleOptions,
  type CheckedBundle,
  type CreateBundleOptions,
  checkBundle,
  createBundle,
  findArtifacts,
  type ModelPlace,
  manifestSchema,
  placeModel,
} from "./bundle/index.ts";
export { type CachePreset, cachePresets, type PresetTypes, presetTypes } from "./cache-presets.ts";
export { type ChatMessage, type ChatTool, renderChat } from "./chat/index.ts";
export { InferenceError, type InferenceErrorCode } from "./errors.ts";
export { readGguf } from "./gguf/index.ts";
export { type JsonSchema, jsonSchemaGrammar } from "./grammar/index.ts";
export { Inference, type TokenizeOptions } from "./inference.ts";
export {
  type Calibrated,
  type CalibrateOptions,
  calibrate,
  chooseMap,
  openStatistics,
  type Statistics,
  solvedMap,
} from "./maps/index.ts";
export * from "./models/index.ts";
export type { CacheTypeInfo, DeviceSupport } from "./native/native-library.ts";
export { probeNativeLibrary } from "./native/probe-library.ts";
export { processorFeatures } from "./native/processor-features.ts";
export type {
  DryOptions,
  MirostatOptions,
  OpenOptions,
  SamplingOptions,
  StreamOptions,
  XtcOptions,
} from "./options.ts";
export * from "./outside/index.ts";
export type {
  CacheDifference,
  FinishReason,
  InferenceReport,
  LayerCache,
  SharedLayer,
  StreamReport,
} from "./report.ts";
export * from "./runtimes/index.ts";
export { type GenerateOptions, Session } from "./session.ts";
export { type StreamChunk, type TokenLogprob, TokenStream } from "./token-stream.ts";
