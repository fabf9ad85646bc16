export { wantsBegin } from "./begin-token.ts";
export type { ChatFormat } from "./chat-format.ts";
export { readChatFormat } from "./chat-format.ts";
export type { ChatMessage, ChatTool, ChatToolCall } from "./chat-message.ts";
export { ChatPrompter } from "./chat-prompter.ts";
export type { ControlToken, PromptPiece } from "./prompt-pieces.ts";
export type { Tokenize } from "./prompt-tokens.ts";
export type { ChatOptions, RenderChatOptions } from "./render-chat.ts";
export { checkChat, renderChat } from "./render-chat.ts";
