/** What another library would do, as far as Redis sees it. */
interface Connection {
  set(key: string, value: string, unit: 'PX', ms: number, when: 'NX'): Promise<unknown>;
  set(key: string, value: string): Promise<unknown>;
  del(key: string): Promise<unknown>;
}

const EVERY_MS = 4000;

/** Keeps keys that no instrumented client made: some with an expiry, and now and then one without. */
export function keepForeignKeys(redis: Connection): { stop(): Promise<void> } {
  let round = 0;
  const timer = setInterval(() => {
    round += 1;
    void redis.set(`lock:legacy:${round % 3}`, `another-library-${round}`, 'PX', 7000, 'NX').catch(() => {});
    // Taken and forgotten without an expiry for half of each minute, then mended.
    const stuck = round % 15 < 8;
    void (stuck ? redis.set('lock:legacy:stuck', 'forgotten') : redis.del('lock:legacy:stuck')).catch(
      () => {},
    );
  }, EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      await redis.del('lock:legacy:stuck').catch(() => {});
    },
  };
}
