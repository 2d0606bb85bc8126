/** What `/api/v1/locks` is asked for. */
export interface LocksQuery {
  /** Only locks of this resource. */
  readonly resource: string | undefined;
  /** Most locks in the answer. */
  readonly limit: number;
}

/** The query, or what is wrong with it. */
export type LocksQueryReading =
  | { readonly ok: true; readonly query: LocksQuery }
  | { readonly ok: false; readonly fault: string };

/** Most locks in one answer: a page for people, not a dump. */
export const MAX_LIMIT = 1000;
const DEFAULT_LIMIT = 100;
const KNOWN = ['resource', 'limit'];

/** Reads the query string of `/api/v1/locks`. A parameter that is unknown or given twice is a fault. */
export function readLocksQuery(params: URLSearchParams): LocksQueryReading {
  const names = [...params.keys()];
  if (names.some((name) => !KNOWN.includes(name)))
    return fault(`has only the parameters ${KNOWN.join(' and ')}`);
  if (new Set(names).size < names.length) return fault('takes each parameter once');
  const resource = params.get('resource') ?? undefined;
  if (resource === '') return fault('needs a name after resource=');
  const limit = params.get('limit') ?? String(DEFAULT_LIMIT);
  if (!/^[1-9]\d{0,3}$/.test(limit) || Number(limit) > MAX_LIMIT) {
    return fault(`needs a whole number from 1 to ${MAX_LIMIT} after limit=`);
  }
  return { ok: true, query: { resource, limit: Number(limit) } };
}

function fault(what: string): LocksQueryReading {
  return { ok: false, fault: `/api/v1/locks ${what}` };
}
