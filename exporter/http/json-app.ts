import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { Clock } from '../../contract/clock.js';
import { sendRefusal } from './refusal.js';

/** What every app needs of the process around it. */
export interface AppSurroundings {
  readonly clock: Clock;
  /** Hears of an error that a handed function threw: a fault of this program, never of the request. */
  reportFault(error: unknown): void;
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
export function refuseMethod(allow: string, { clock }: AppSurroundings): RequestHandler {
  const message = `This path takes ${allow} only`;
  return (request, response) => {
    sendRefusal(request, response, { id: 'method_not_allowed', message, headers: { allow } }, clock);
  };
}

/** Ends an app: what no route took, and what a handler threw, is answered in JSON, without any inside view. */
export function closeApp(app: Express, surroundings: AppSurroundings): void {
  const { clock } = surroundings;
  app.use((request, response) => {
    sendRefusal(request, response, { id: 'not_found', message: 'There is nothing at this path' }, clock);
  });
  const refuseFault: ErrorRequestHandler = (error, request, response, _next) => {
    surroundings.reportFault(error);
    const message = 'The exporter failed to answer; its log says more';
    sendRefusal(request, response, { id: 'internal', message }, clock);
  };
  app.use(refuseFault);
}
