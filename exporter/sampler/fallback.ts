import { StepFailure } from './step.js';

/**
 * Looks by script; once that is not allowed, by plain commands. After any other failure the script is tried
 * again: a new connection may have other rights.
 */
export function createFallback<Request, Reply>(
  byScript: (request: Request) => Promise<Reply>,
  byCommands: (request: Request) => Promise<Reply>,
): (request: Request) => Promise<Reply> {
  let plain = false;
  return async (request) => {
    try {
      if (!plain) return await byScript(request);
    } catch (error) {
      if (!(error instanceof StepFailure) || error.reason !== 'no_permission') throw error;
      plain = true;
    }
    try {
      return await byCommands(request);
    } catch (error) {
      plain = false;
      throw error;
    }
  };
}
