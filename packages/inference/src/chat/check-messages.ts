import { checkOptions, checkValue, type Rules } from "../arguments/check.ts";
import { listOf, name, oneOf, type Rule, record, shown, text } from "../arguments/rule.ts";
import { InferenceError } from "../errors.ts";
import type { ChatMessage, ChatTool, ChatToolCall } from "./chat-message.ts";

const roles = ["system", "developer", "user", "assistant", "tool"] as const;
const nothing: Rule<null> = { wants: "null", accepts: (value): value is null => value === null };

const callRules: Rules<ChatToolCall> = { id: name, name, arguments: record };
const toolRules: Rules<ChatTool> = { name, description: text, parameters: record };
const messageRules: Rules<Omit<ChatMessage, "content">> = {
  role: oneOf(roles),
  name,
  toolCalls: listOf(record as unknown as Rule<ChatToolCall>, 0, 1000),
  toolCallId: name,
};

/** @throws InferenceError INVALID_ARGUMENT, with the message's number and what was found there */
export function checkMessages(messages: unknown): asserts messages is readonly ChatMessage[] {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw wrong(Array.isArray(messages) ? "there are no messages" : `the messages are ${shown(messages)}`);
  }
  for (const [index, message] of messages.entries()) checkMessage(`message ${index}`, message);
}

function checkMessage(which: string, message: unknown): void {
  if (typeof message !== "object" || message === null) throw wrong(`${which} is ${shown(message)}`);
  const { content, ...rest } = message as ChatMessage;
  const { role, toolCalls, toolCallId } = checkOptions<Omit<ChatMessage, "content">>(which, rest, {
    ...messageRules,
    content: nothing,
  } as never);
  if (role === undefined) throw wrong(`${which} has no role`);
  for (const [index, call] of (toolCalls ?? []).entries()) {
    const where = `call ${index} of ${which}`;
    const { name: called, arguments: given } = checkOptions<ChatToolCall>(where, call, callRules);
    if (called === undefined || given === undefined) throw wrong(`${where} needs a name and arguments`);
  }
  if (toolCalls !== undefined && role !== "assistant") {
    throw wrong(`${which} has toolCalls, which belong to the role assistant, not ${role}`);
  }
  if (toolCallId !== undefined && role !== "tool") {
    throw wrong(`${which} has a toolCallId, which belongs to the role tool, not ${role}`);
  }
  const mayBeNull = role === "assistant" && toolCalls !== undefined && toolCalls.length > 0;
  if (typeof content === "string" || (mayBeNull && (content === null || content === undefined))) return;
  throw wrong(`the content of ${which} is ${shown(content)}`);
}

/** @throws InferenceError INVALID_ARGUMENT */
export function checkTools(tools: unknown): asserts tools is readonly ChatTool[] {
  const list = checkValue("tools", tools, listOf(record, 0, 1000));
  for (const [index, tool] of list.entries()) {
    const { name: called } = checkOptions<ChatTool>(`tool ${index}`, tool, toolRules);
    if (called === undefined) throw wrong(`tool ${index} has no name`);
  }
}

function wrong(what: string): InferenceError {
  return new InferenceError(
    "INVALID_ARGUMENT",
    what,
    'Give messages such as { role: "user", content: "Hello" }; content may be null beside toolCalls.',
  );
}
