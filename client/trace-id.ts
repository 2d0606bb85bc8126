/** The contract's form of a trace id. */
const TRACE_ID = /^[\x21-\x7e]{1,64}$/;

/** Makes a hook safe: what it throws, and what is no trace id, becomes undefined. */
export function traceIdHook(hook: (() => string | undefined) | undefined): () => string | undefined {
  if (hook === undefined) return () => undefined;
  return () => {
    try {
      const id = hook();
      return typeof id === 'string' && TRACE_ID.test(id) ? id : undefined;
    } catch {
      // A tracer's fault must not fail a lock.
      return undefined;
    }
  };
}
