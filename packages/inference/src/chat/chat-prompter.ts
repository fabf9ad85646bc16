import { askProcess } from "../background/ask-process.ts";
import { InferenceError } from "../errors.ts";
import {
  briefMilliseconds,
  type TemplateLimits,
  TemplateTooLarge,
  templateLimits,
} from "./bounded-interpreter.ts";
import type { ChatFormat } from "./chat-format.ts";
import type { ChatMessage } from "./chat-message.ts";
import { cutPrompt, type PromptPiece } from "./prompt-pieces.ts";
import { promptTokens, type Tokenize } from "./prompt-tokens.ts";
import { CompiledTemplate, type RenderChatOptions } from "./render-chat.ts";
import type { RenderTask } from "./render-worker.ts";
import { StandIns } from "./stand-ins.ts";

/** Turns conversations into prompts for one model; its templates are read once. */
export class ChatPrompter {
  readonly #format: ChatFormat;
  readonly #model: string;
  readonly #compiled = new Map<string, CompiledTemplate>();

  /** @param model its name, for messages */
  constructor(format: ChatFormat, model: string) {
    this.#format = format;
    this.#model = model;
  }

  /** The prompt as text, for people to look at. @throws InferenceError as `pieces` */
  text(messages: readonly ChatMessage[], options: RenderChatOptions = {}): string {
    const { bosToken, eosToken } = this.#format;
    return this.#template(options).render(messages, { bosToken, eosToken, ...options });
  }

  /**
   * The prompt as control tokens that the template wrote and text between them. What users wrote is text, whatever it
   * looks like.
   *
   * @throws InferenceError CHAT_TEMPLATE_MISSING, CHAT_TEMPLATE_INVALID, CHAT_REFUSED, INVALID_ARGUMENT
   */
  pieces(
    messages: readonly ChatMessage[],
    options: RenderChatOptions = {},
    limits: TemplateLimits = templateLimits,
  ): PromptPiece[] {
    const { bosToken, eosToken, controlTokens } = this.#format;
    const template = this.#template(options);
    const inputs = JSON.stringify([messages, options.tools, options.variables]) ?? "";
    const standIns = new StandIns(
      controlTokens.map(({ text }) => text),
      template.literals,
      inputs + template.literals.join(""),
    );
    const mark = (value: unknown): unknown => standIns.markAll(value);
    const rendered = template.render(messages, { bosToken, eosToken, ...options }, mark, limits);
    return cutPrompt(rendered, controlTokens, (text) => standIns.restore(text));
  }

  /** The tokens of `pieces`, with the model's begin token unless the template wrote it. @throws as `pieces` */
  async tokens(
    messages: readonly ChatMessage[],
    options: RenderChatOptions,
    tokenize: Tokenize,
  ): Promise<Int32Array> {
    const pieces = await this.#piecesInTime(messages, options);
    const { bosToken, controlTokens } = this.#format;
    const [first] = pieces;
    const begins =
      first !== undefined &&
      ("token" in first
        ? controlTokens.some(({ id, text }) => id === first.token && text === bosToken)
        : bosToken !== "" && first.text.startsWith(bosToken));
    return promptTokens(pieces, tokenize, !begins);
  }

  /** Here where that is quick; what is not begins anew in a process, and the event loop goes on. */
  async #piecesInTime(messages: readonly ChatMessage[], options: RenderChatOptions): Promise<PromptPiece[]> {
    try {
      return this.pieces(messages, options, { ...templateLimits, milliseconds: briefMilliseconds });
    } catch (error) {
      const { cause } = error as { cause?: unknown };
      if (!(cause instanceof TemplateTooLarge && cause.isSlow)) throw error;
    }
    const task: RenderTask = { format: this.#format, model: this.#model, messages, options };
    return askProcess<PromptPiece[]>("chat/render-worker", task);
  }

  #template({ tools }: RenderChatOptions): CompiledTemplate {
    const { template, toolTemplate } = this.#format;
    const source = tools !== undefined && tools.length > 0 ? (toolTemplate ?? template) : template;
    if (source === undefined) {
      throw new InferenceError(
        "CHAT_TEMPLATE_MISSING",
        `${this.#model} has no chat template`,
        "Pass the prompt as a string, in the form that the model was trained on.",
      );
    }
    const compiled = this.#compiled.get(source) ?? new CompiledTemplate(source);
    this.#compiled.set(source, compiled);
    return compiled;
  }
}
