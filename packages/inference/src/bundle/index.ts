export { type Artifact, findArtifacts } from "./artifacts.ts";
export { type CheckBundleOptions, type CheckedBundle, checkBundle } from "./check-bundle.ts";
export { type CreateBundleOptions, createBundle } from "./create-bundle.ts";
export { type BundleManifest, manifestSchema } from "./manifest.ts";
export { type ModelPlace, placeModel } from "./place-model.ts";
export { requireWholeBundle } from "./require-whole-bundle.ts";
