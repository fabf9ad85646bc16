import { Environment, Interpreter, Template } from "@huggingface/jinja";
import { InferenceError } from "../errors.ts";
import type { ChatMessage, ChatTool } from "./chat-message.ts";
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
const maxRange = 100_000;
const literals = { true: true, false: false, none: null, True: true, False: false, None: null };
const roles = new Set(["system", "developer", "user", "assistant", "tool"]);

class Refusal extends Error {}

/**
 * The prompt for `messages` by a model's own chat template (Jinja, with the functions that such templates use).
 * The text holds the model's special tokens, its first one too where the template writes it: tokenize it with
 * special tokens read, and without another one added in front when it begins with `bosToken`.
 *
 * @throws InferenceError INVALID_ARGUMENT (messages), CHAT_TEMPLATE_INVALID (the template is broken),
 *   CHAT_REFUSED (the template does not allow these messages, in its own words).
 */
export function renderChat(
  template: string,
  messages: readonly ChatMessage[],
  options: RenderChatOptions = {},
): string {
  checkMessages(messages);
  const parsed = parse(template);
  const variables: Record<string, unknown> = {
    ...options.variables,
    ...literals,
    messages: messages.map(forTemplate),
    bos_token: options.bosToken ?? "",
    eos_token: options.eosToken ?? "",
    add_generation_prompt: options.addGenerationPrompt ?? true,
    raise_exception: (message: unknown): never => {
      throw new Refusal(String(message));
    },
    range: boundedRange,
    strftime_now: (format: string) => strftime(new Date(), format),
  };
  if (options.tools) {
    variables.tools = options.tools.map((tool) => ({ type: "function", function: { ...tool } }));
  }
  try {
    const environment = new Environment();
    for (const [name, value] of Object.entries(variables)) environment.set(name, value);
    return String(new Interpreter(environment).run(parsed.parsed).value);
  } catch (error) {
    if (error instanceof InferenceError) throw error;
    if (error instanceof Refusal) {
      throw new InferenceError(
        "CHAT_REFUSED",
        `the model's chat template refused the messages: ${error.message}`,
        "Change the order or the roles of the messages as it says.",
      );
    }
    throw invalid("could not be carried out", error);
  }
}

function parse(template: string): Template {
  if (template.trim() === "") {
    throw new InferenceError(
      "CHAT_TEMPLATE_MISSING",
      "the model has no chat template",
      "Give a prompt instead of messages, or use an instruction-tuned model.",
    );
  }
  if (template.length > maxTemplateLength) {
    throw invalid(`is ${template.length} characters long, more than ${maxTemplateLength}`);
  }
  try {
    return new Template(template);
  } catch (error) {
    throw invalid("could not be read", error);
  }
}

function checkMessages(messages: readonly ChatMessage[]): void {
  const wrong = (what: string): InferenceError =>
    new InferenceError("INVALID_ARGUMENT", what, 'Give messages such as { role: "user", content: "Hello" }.');
  if (!Array.isArray(messages) || messages.length === 0) throw wrong("there are no messages");
  for (const [index, message] of messages.entries()) {
    if (typeof message !== "object" || message === null) throw wrong(`message ${index} is no object`);
    if (!roles.has(message.role)) {
      throw wrong(
        `message ${index} has the role ${JSON.stringify(message.role)}, not ${[...roles].join(", ")}`,
      );
    }
    if (typeof message.content !== "string") throw wrong(`the content of message ${index} is no string`);
  }
}

function forTemplate(message: ChatMessage): Record<string, unknown> {
  const { role, content, name, toolCalls, toolCallId } = message;
  const given: Record<string, unknown> = { role, content };
  if (name !== undefined) given.name = name;
  if (toolCallId !== undefined) given.tool_call_id = toolCallId;
  if (toolCalls !== undefined) {
    given.tool_calls = toolCalls.map((call) => ({
      type: "function",
      function: { name: call.name, arguments: call.arguments },
      ...(call.id === undefined ? {} : { id: call.id }),
    }));
  }
  return given;
}

// A template comes with a model from a stranger: range(10**9) must not take the process down.
function boundedRange(first: number, second?: number, step = 1): number[] {
  const [from, to] = second === undefined || second === null ? [0, first] : [first, second];
  const count = Math.max(0, Math.ceil((to - from) / step));
  if (!(count <= maxRange)) throw new Error(`range of ${count} numbers, more than ${maxRange}`);
  return Array.from({ length: count }, (_, index) => from + index * step);
}

function invalid(why: string, cause?: unknown): InferenceError {
  const said = cause instanceof Error ? `: ${cause.message}` : "";
  return new InferenceError(
    "CHAT_TEMPLATE_INVALID",
    `the model's chat template ${why}${said}`,
    "Give another template, or a prompt instead of messages.",
    { cause },
  );
}
