/** More texts are not shared: names of resources are few, or a sign of forged events. */
const MAX_TEXTS = 1024;

/** One text for all that say the same: each report brings texts of its own, 32 bytes for a name. */
export class SharedTexts {
  readonly #known = new Map<string, string>();

  share(text: string): string {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    if (this.#known.size < MAX_TEXTS) this.#known.set(text, text);
    return text;
  }
}
