import { Environment, Template } from "@huggingface/jinja";
import { checkOptions, type Rules } from "../arguments/check.ts";
import { flag, listOf, type Rule, record, text } from "../arguments/rule.ts";
import { InferenceError } from "../errors.ts";
import {
  BoundedInterpreter,
  type TemplateLimits,
  TemplateTooLarge,
  templateLimits,
} from "./bounded-interpreter.ts";
import type { ChatMessage, ChatTool } from "./chat-message.ts";
import { checkMessages, checkTools } from "./check-messages.ts";
import { strftime } from "./strftime.ts";

export interface RenderChatOptions {
  /** The text of the token that begins a sequence, "" where the model has none. */
  bosToken?: string;
  eosToken?: string;
  /** End with the opening of an assistant's message, so that the model answers; true by default. */
  addGenerationPrompt?: boolean;
  tools?: readonly ChatTool[];
  /** Further variables that the template knows, such as enable_thinking. */
  variables?: Readonly<Record<string, unknown>>;
}

const maxTemplateLength = 1 << 20;
/** The parser's regular expressions take the square of a run's length. */
const maxSpace = 256;
const maxRange = 100_000;
const literals = { true: true, false: false, none: null, True: true, False: false, None: null };

/** What a generation says of its template. */
export type ChatOptions = Pick<RenderChatOptions, "tools" | "variables">;

const chatRules: Rules<ChatOptions> = {
  tools: listOf(record, 0, 1000) as unknown as Rule<readonly ChatTool[]>,
  variables: record,
};
const renderRules: Rules<RenderChatOptions> = {
  ...chatRules,
  bosToken: text,
  eosToken: text,
  addGenerationPrompt: flag,
};

/** @throws InferenceError INVALID_ARGUMENT */
export function checkChat(given: unknown): ChatOptions {
  return checkOptions<ChatOptions>("chat", given, chatRules);
}

class Refusal extends Error {}

/** A chat template, read once. */
export class CompiledTemplate {
  readonly #parsed: Template["parsed"];
  /** The strings of its source, which it may compare texts with. */
  readonly literals: readonly string[];
  /** Whether it says anything of tools, of calls, and of the call that a message answers. */
  readonly knows: { tools: boolean; calls: boolean; callIds: boolean };

  /** @throws InferenceError CHAT_TEMPLATE_MISSING, CHAT_TEMPLATE_INVALID */
  constructor(template: string) {
    this.#parsed = parse(template);
    const found = new Set<string>();
    collectStrings(this.#parsed, found);
    this.literals = [...found];
    this.knows = {
      tools: /\btools\b/.test(template),
      calls: /\btool_calls\b/.test(template),
      callIds: /\btool_call_id\b/.test(template),
    };
  }

  /**
   * The prompt, with every string that users wrote as `mark` gives it.
   *
   * @throws InferenceError INVALID_ARGUMENT, CHAT_TEMPLATE_INVALID, CHAT_REFUSED
   */
  render(
    messages: readonly ChatMessage[],
    options: RenderChatOptions = {},
    mark: (value: unknown) => unknown = (value) => value,
    limits: TemplateLimits = templateLimits,
  ): string {
    checkMessages(messages);
    checkOptions<RenderChatOptions>("the chat template", options, renderRules);
    if (options.tools !== undefined) checkTools(options.tools);
    this.#checkTools(messages, options.tools);
    const marked = mark(options.variables ?? {}) as Record<string, unknown>;
    const variables: Record<string, unknown> = {
      ...marked,
      ...literals,
      messages: messages.map((message) => forTemplate(message, mark)),
      bos_token: options.bosToken ?? "",
      eos_token: options.eosToken ?? "",
      add_generation_prompt: options.addGenerationPrompt ?? true,
      raise_exception: (message: unknown): never => {
        throw new Refusal(String(message));
      },
      range: boundedRange,
      strftime_now: (format: string) => strftime(new Date(), format),
    };
    if (options.tools && options.tools.length > 0) {
      variables.tools = options.tools.map((tool) => ({
        type: "function",
        function: mark({ ...tool }),
      }));
    }
    try {
      const environment = new Environment();
      for (const [name, value] of Object.entries(variables)) environment.set(name, value);
      return String(new BoundedInterpreter(environment, limits).run(this.#parsed).value);
    } catch (error) {
      if (error instanceof InferenceError) throw error;
      if (error instanceof Refusal) {
        throw new InferenceError(
          "CHAT_REFUSED",
          `the model's chat template refused the messages: ${error.message}`,
          "Change the order or the roles of the messages as it says.",
        );
      }
      if (error instanceof TemplateTooLarge) throw invalid("was stopped: it", error);
      throw invalid("could not be carried out", error);
    }
  }

  // A template that does not know them would leave them out in silence.
  #checkTools(messages: readonly ChatMessage[], tools: readonly ChatTool[] | undefined): void {
    if (tools !== undefined && tools.length > 0 && !this.knows.tools) throw unknowing("tools", "the tools");
    if (this.knows.calls) return;
    const index = messages.findIndex(({ toolCalls }) => toolCalls !== undefined && toolCalls.length > 0);
    if (index >= 0) throw unknowing("toolCalls", `the calls of message ${index}`);
  }
}

/**
 * The prompt for `messages` by a model's own chat template (Jinja, with the functions that such templates use).
 * The text holds the model's special tokens, its first one too where the template writes it, and what users wrote as it
 * is: markers in it are not told from the template's. `Inference.stream` tells them apart.
 *
 * @throws InferenceError INVALID_ARGUMENT (messages), CHAT_TEMPLATE_INVALID (the template is broken, or takes more than
 *   three seconds, two million steps or 32 Mi characters), CHAT_REFUSED (the template does not allow these messages, in
 *   its own words).
 */
export function renderChat(
  template: string,
  messages: readonly ChatMessage[],
  options: RenderChatOptions = {},
): string {
  return new CompiledTemplate(template).render(messages, options);
}

function parse(template: string): Template["parsed"] {
  if (typeof template !== "string" || template.trim() === "") {
    throw new InferenceError(
      "CHAT_TEMPLATE_MISSING",
      "the model has no chat template",
      "Give a prompt instead of messages, or use an instruction-tuned model.",
    );
  }
  if (template.length > maxTemplateLength) {
    throw invalid(`is ${template.length} characters long, more than ${maxTemplateLength}`);
  }
  if (longestSpace(template) > maxSpace) {
    throw invalid(`has more than ${maxSpace} characters of white space in a row`);
  }
  try {
    return new Template(template).parsed;
  } catch (error) {
    throw invalid("could not be read", error);
  }
}

function longestSpace(text: string): number {
  let [longest, run] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    run = text.charCodeAt(at) <= 32 || /\s/.test(text[at]!) ? run + 1 : 0;
    if (run > longest) longest = run;
  }
  return longest;
}

function collectStrings(node: unknown, into: Set<string>): void {
  if (typeof node !== "object" || node === null) return;
  const { type, value } = node as { type?: unknown; value?: unknown };
  if (type === "StringLiteral" && typeof value === "string") into.add(value);
  for (const child of node instanceof Map ? node.entries() : Object.values(node)) collectStrings(child, into);
}

function forTemplate(message: ChatMessage, mark: (value: unknown) => unknown): Record<string, unknown> {
  const { role, content, name, toolCalls, toolCallId } = message;
  // Templates add to the content; where there is none they are written for an empty one.
  const given: Record<string, unknown> = { role, content: mark(content ?? "") };
  if (name !== undefined) given.name = mark(name);
  if (toolCallId !== undefined) given.tool_call_id = mark(toolCallId);
  if (toolCalls !== undefined) {
    given.tool_calls = toolCalls.map((call) => ({
      type: "function",
      function: { name: mark(call.name), arguments: mark(call.arguments) },
      ...(call.id === undefined ? {} : { id: mark(call.id) }),
    }));
  }
  return given;
}

function boundedRange(first: number, second?: number, step = 1): number[] {
  const [from, to] = second === undefined || second === null ? [0, first] : [first, second];
  const count = Math.max(0, Math.ceil((to - from) / step));
  if (!(count <= maxRange)) throw new Error(`range of ${count} numbers, more than ${maxRange}`);
  return Array.from({ length: count }, (_, index) => from + index * step);
}

function unknowing(what: string, given: string): InferenceError {
  return new InferenceError(
    "CHAT_REFUSED",
    `the model's chat template knows no ${what}: ${given} would be lost`,
    "Use a model that was trained to call tools, or write them into the messages' text.",
  );
}

function invalid(why: string, cause?: unknown): InferenceError {
  const said = cause instanceof Error ? `${why.endsWith(" it") ? " " : ": "}${cause.message}` : "";
  return new InferenceError(
    "CHAT_TEMPLATE_INVALID",
    `the model's chat template ${why}${said}`,
    "Give another template, or a prompt instead of messages.",
    { cause },
  );
}
