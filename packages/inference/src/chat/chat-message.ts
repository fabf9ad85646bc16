/** One call of a tool that the model asked for. */
export interface ChatToolCall {
  id?: string;
  name: string;
  arguments: Readonly<Record<string, unknown>>;
}

export interface ChatMessage {
  role: "system" | "developer" | "user" | "assistant" | "tool";
  /** May be null, or left out, beside toolCalls. */
  content?: string | null;
  name?: string;
  /** What an assistant's message called. */
  toolCalls?: readonly ChatToolCall[];
  /** The call that a tool's message answers. */
  toolCallId?: string;
}

/** A function that the model may call; `parameters` is a JSON Schema. */
export interface ChatTool {
  name: string;
  description?: string;
  parameters?: Readonly<Record<string, unknown>>;
}
