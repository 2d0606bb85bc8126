import { ERRORS } from '../../contract/index.js';
import { code, page, table } from './markdown.js';

/** `docs/reference/errors.md`: every error id, what it means and what to do. */
export function errorsPage(): string {
  const rows = Object.entries(ERRORS).map(([id, { meaning, remedy }]) => [code(id), meaning, remedy]);
  return page(
    'Errors',
    'Every error thrown by the client and the exporter is a `RedisLockError` with one of these as `id`. An id never changes its meaning.',
    table(['id', 'meaning', 'what to do'], rows),
  );
}
