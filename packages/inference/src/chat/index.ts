export { wantsBegin } from "./begin-token.ts";
export type { ChatFormat } from "./chat-format.ts";
export { readChatFormat } from "./chat-format.ts";
export type { ChatMessage, ChatTool, ChatToolCall } from "./chat-message.ts";
export type { RenderChatOptions } from "./render-chat.ts";
export { renderChat } from "./render-chat.ts";
