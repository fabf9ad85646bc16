export { type OpenAICompatibleOptions, openAICompatible } from "./openai-compatible.ts";
export type {
  OutsideAdapter,
  OutsideModel,
  OutsideReport,
  OutsideStream,
  OutsideStreamReport,
  OutsideVerdict,
} from "./outside-model.ts";
export { androidAiCore, appleFoundationModels, type Machine } from "./system-models.ts";
