/** More servers than that in one deployment's life are a sign of forged events. */
const MAX_SERVERS = 256;

/** When each Redis server was first heard of. Servers beyond the bound count as known from the beginning. */
export class ServerHistory {
  readonly #firstMs = new Map<string, number>();
  #last: string | undefined;

  /** Takes in that a server was named. Cheap for the one named last. */
  name(serverId: string | undefined, nowMs: number): void {
    if (serverId === undefined || serverId === this.#last) return;
    this.#last = serverId;
    if (!this.#firstMs.has(serverId) && this.#firstMs.size < MAX_SERVERS) this.#firstMs.set(serverId, nowMs);
  }

  /** Whether a server was first named after this awake time. */
  isNewerThan(serverId: string, ms: number): boolean {
    return (this.#firstMs.get(serverId) ?? Number.NEGATIVE_INFINITY) > ms;
  }
}
