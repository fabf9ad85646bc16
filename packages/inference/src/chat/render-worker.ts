/** The process that renders a conversation whose template takes long: it answers with the pieces of the prompt. */
import { answerOnce } from "../background/ask-process.ts";
import type { ChatFormat } from "./chat-format.ts";
import type { ChatMessage } from "./chat-message.ts";
import { ChatPrompter } from "./chat-prompter.ts";
import type { PromptPiece } from "./prompt-pieces.ts";
import type { RenderChatOptions } from "./render-chat.ts";

export interface RenderTask {
  format: ChatFormat;
  model: string;
  messages: readonly ChatMessage[];
  options: RenderChatOptions;
}

answerOnce(({ format, model, messages, options }: RenderTask): PromptPiece[] =>
  new ChatPrompter(format, model).pieces(messages, options),
);
