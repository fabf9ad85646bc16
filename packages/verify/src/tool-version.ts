import packageFile from "../package.json" with { type: "json" };

/** Version of this package, named in every evidence file. */
export const TOOL_VERSION: string = packageFile.version;
