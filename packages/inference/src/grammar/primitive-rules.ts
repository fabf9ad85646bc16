/** Of JSON (RFC 8259); `char` is one character of a string, whole or escaped. */
export const primitiveRules: readonly string[] = [
  String.raw`ws ::= | " " | "\n" [ \t]{0,20}`,
  String.raw`char ::= [^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt/] | "u" [0-9a-fA-F]{4})`,
  String.raw`string ::= "\"" char* "\""`,
  `boolean ::= "true" | "false"`,
  `null ::= "null"`,
  `number ::= "-"? ("0" | [1-9] [0-9]{0,14}) ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?`,
  `list ::= "[" ws (value (ws "," ws value)* ws)? "]"`,
  `map ::= "{" ws (string ws ":" ws value (ws "," ws string ws ":" ws value)* ws)? "}"`,
  `value ::= map | list | string | number | boolean | null`,
  `year-month-day ::= [0-9]{4} "-" ("02-" ("0" [1-9] | "1" [0-9] | "2" [0-8]) | ("04" | "06" | "09" | "11") "-" ("0" [1-9] | [1-2] [0-9] | "30") | ("01" | "03" | "05" | "07" | "08" | "10" | "12") "-" ("0" [1-9] | [1-2] [0-9] | "3" [0-1]))`,
  `hour-minute-second ::= ([0-1] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] ("." [0-9]{1,6})? ("Z" | [+-] ([0-1] [0-9] | "2" [0-3]) ":" [0-5] [0-9])`,
];

/** Texts of a format; a date never has 29 February. */
export const namedFormats: Readonly<Record<string, string>> = {
  date: String.raw`"\"" year-month-day "\""`,
  time: String.raw`"\"" hour-minute-second "\""`,
  "date-time": String.raw`"\"" year-month-day "T" hour-minute-second "\""`,
  uuid: String.raw`"\"" [0-9a-f]{8} "-" [0-9a-f]{4} "-" [0-9a-f]{4} "-" [0-9a-f]{4} "-" [0-9a-f]{12} "\""`,
};
