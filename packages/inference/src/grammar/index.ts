export { type JsonSchema, jsonSchemaGrammar } from "./json-schema-grammar.ts";
