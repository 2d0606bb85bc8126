/** More texts are not shared: names of resources and types are few. */
const MAX_TEXTS = 1024;

/** One text for all that say the same: each report, and each reply of Redis, brings texts of its own. */
export class SharedTexts {
  readonly #known = new Map<string, string>();

  share(text: string): string {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    if (this.#known.size < MAX_TEXTS) this.#known.set(text, text);
    return text;
  }
}
