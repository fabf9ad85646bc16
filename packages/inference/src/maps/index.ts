export { type Calibrated, type CalibrateOptions, calibrate, calibrationTextPath } from "./calibrate.ts";
export { calibrateHint, chooseMap, isCoded, makingHint, windowHint } from "./choose-map.ts";
export { findStatistics, mapBeside, mapOfUser, openStatistics } from "./map-files.ts";
export { type SolveOptions, solveMap } from "./solve.ts";
export { solvedMap } from "./solved-maps.ts";
export { Statistics } from "./statistics.ts";
