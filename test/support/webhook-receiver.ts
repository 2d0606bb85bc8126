import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One alert in a notification. */
export interface NotifiedAlert {
  status: 'firing' | 'resolved';
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** When the rule first held, by Prometheus's clock: ISO 8601. */
  startsAt: string;
}

/** One notification as Alertmanager sends it, and where and when it came in. */
export interface Notification {
  /** `/page`, `/ticket`, …: the path that was posted to. */
  path: string;
  /** By the wall clock of this machine, in ms. */
  atMs: number;
  status: 'firing' | 'resolved';
  receiver: string;
  alerts: NotifiedAlert[];
}

/** A webhook that takes whatever it is sent. */
export interface WebhookReceiver {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** Everything so far, oldest first. */
  readonly notifications: readonly Notification[];
  stop(): Promise<void>;
}

/** Starts a receiver for Alertmanager's webhooks on a free port of 127.0.0.1. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const notifications: Notification[] = [];
  const server = createServer((request, response) => void take(request, response, notifications));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    notifications,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function take(request: IncomingMessage, response: ServerResponse, notifications: Notification[]) {
  const atMs = Date.now();
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  const { status, receiver, alerts } = JSON.parse(body) as Notification;
  notifications.push({ path: request.url ?? '', atMs, status, receiver, alerts });
  response.end();
}
