/** Which locks `/api/v1/locks` is to show. */
export interface LocksQuery {
  /** Only locks of this resource. */
  readonly resource?: string;
  /** Most locks to show. */
  readonly limit: number;
}

/** A query that could be read, or what is wrong with it. */
export type LocksQueryRead = { readonly query: LocksQuery } | { readonly message: string };

/** Most locks in an answer unless asked otherwise: enough for a page; a capacity report asks for more. */
export const DEFAULT_LOCKS_LIMIT = 100;
/** Most locks that may be asked for. */
export const MAX_LOCKS_LIMIT = 1000;

/** Reads the query of `/api/v1/locks`: `resource` and `limit`, each once at most. */
export function readLocksQuery(parameters: Readonly<Record<string, unknown>>): LocksQueryRead {
  const { resource, limit = String(DEFAULT_LOCKS_LIMIT), ...others } = parameters;
  if (Object.keys(others).length > 0) return { message: 'Only the parameters resource and limit are known' };
  if (typeof limit !== 'string' || !/^\d{1,4}$/.test(limit) || !isInRange(Number(limit))) {
    return { message: `The parameter limit must be a whole number from 1 to ${MAX_LOCKS_LIMIT}` };
  }
  if (resource === undefined) return { query: { limit: Number(limit) } };
  if (typeof resource !== 'string') return { message: 'The parameter resource may come once only' };
  return { query: { resource, limit: Number(limit) } };
}

function isInRange(limit: number): boolean {
  return limit >= 1 && limit <= MAX_LOCKS_LIMIT;
}
