/**
 * What an error of the network says. When a name has several addresses, Node tries each and throws one error
 * without a message of its own; then it is the message of each, so that every address tried is named.
 */
export function describeError(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors.map(describeError).join('; ');
  }
  if (!(error instanceof Error)) return 'failed';
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}
