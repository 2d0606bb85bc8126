import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { Clock } from '../../contract/clock.js';
import type { RefusalId } from '../../contract/refusals.js';
import { type RefusalNote, sendRefusal } from './refusal.js';

/** What every app needs of the process around it. */
export interface AppSurroundings {
  readonly clock: Clock;
  /** Hears of an error that a handed function threw: a fault of this program, never of the request. */
  reportFault(error: unknown): void;
  /** Counts a refused request. Not called for a batch: those have their own counter. */
  countRefusal(id: RefusalId): void;
}

/** An app that tells nothing about itself, and takes paths literally. */
export function createBareApp(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('strict routing');
  app.enable('case sensitive routing');
  app.set('query parser', 'simple');
  return app;
}

/** Refuses the methods of a path that no handler before took. */
export function refuseMethod(allow: string, surroundings: AppSurroundings): RequestHandler {
  const message = `This path takes ${allow} only`;
  return (request, response) => {
    refuse(request, response, { id: 'method_not_allowed', message, headers: { allow } }, surroundings);
  };
}

/** Counts a refusal, and sends it. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  note: RefusalNote,
  { clock, countRefusal }: AppSurroundings,
): void {
  countRefusal(note.id);
  sendRefusal(request, response, note, clock);
}

/**
 * Ends an app: what no route took, and what a handler threw, is answered in JSON, without any inside view. A wrong
 * path is told the right ones: most who come there have mistaken one listener for the other.
 */
export function closeApp(app: Express, surroundings: AppSurroundings): void {
  const message = `There is nothing at this path; this listener has ${routesOf(app).join(', ')}`;
  app.use((request, response) => refuse(request, response, { id: 'not_found', message }, surroundings));
  const refuseFault: ErrorRequestHandler = (error, request, response, _next) => {
    surroundings.reportFault(error);
    const message = 'The exporter failed to answer; its log says more';
    refuse(request, response, { id: 'internal', message }, surroundings);
  };
  app.use(refuseFault);
}

/** The paths of an app, each once, as they were added. */
function routesOf(app: Express): string[] {
  return [...new Set(app.router.stack.flatMap(({ route }) => route?.path ?? []))];
}
