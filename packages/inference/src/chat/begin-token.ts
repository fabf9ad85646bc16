/** Whether a prompt still needs the model's begin token: many chat templates write it themselves. */
export function wantsBegin(prompt: string, bosToken: string): boolean {
  return bosToken === "" || !prompt.startsWith(bosToken);
}
