import { Agent, request } from 'node:http';
import type { Batch } from '../../contract/batch.js';
import type { LockEvent } from '../../contract/event.js';

const BEGAN_MS = 1_796_000_000_000;

/** A posting client of a bench: one connection, one batch under way, numbers of its own. */
export class Poster {
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #producer: string;
  #seq = 0;

  constructor(url: string, name: string) {
    this.#url = `${url}/v1/events`;
    this.#producer = `bench-${name.padStart(8, '0')}`;
  }

  /** The batch as text with a gap for its number: bodies are made before the time of a turn begins. */
  template(events: readonly object[], change: Partial<Batch> = {}): readonly [string, string] {
    const envelope = { v: 1, producer: this.#producer, startedAtMs: BEGAN_MS, sentAtMs: BEGAN_MS };
    const from = { store: 'default', app: 'bench', instance: 'bench-1', dropped: {} };
    const text = JSON.stringify({ ...envelope, ...from, ...change, seq: '#', events });
    const [before = '', after = ''] = text.split('"#"');
    return [before, after];
  }

  /** @throws Error when the batch was not taken whole */
  async post([before, after]: readonly [string, string]): Promise<void> {
    this.#seq += 1;
    const { status, body } = await this.#send(`${before}${this.#seq}${after}`);
    const answer = JSON.parse(body);
    if (status === 200 && answer.rejected.length === 0 && !answer.duplicate) return;
    throw new Error(`a batch of the bench was answered ${status}: ${body.slice(0, 200)}`);
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(text: string): Promise<{ status: number; body: string }> {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    return new Promise((resolve, reject) => {
      const sent = request(this.#url, { method: 'POST', agent: this.#agent, headers }, (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          body += chunk;
        });
        response.once('end', () => resolve({ status: response.statusCode ?? 0, body }));
      });
      sent.once('error', reject);
      sent.end(text);
    });
  }
}

/** 16 hex digits that differ for each index. */
export function digest(prefix: string, index: number): string {
  return `${prefix}${index.toString(16).padStart(16 - prefix.length, '0')}`;
}

/** The two events of one uncontended hold, as the client tells them. @param hold names the owner */
export function holdEvents(hold: number, lock: number, resources: number): LockEvent[] {
  const resource = `resource-${lock % resources}`;
  const fence = BEGAN_MS * 1000;
  const who = { atMs: BEGAN_MS, resource, lock: digest('a', lock), owner: digest('b', hold) };
  return [
    {
      ...who,
      kind: 'acquire',
      outcome: 'acquired',
      mode: 'wait',
      waitMs: 1.25,
      attempts: 1,
      leaseMs: 5000,
      watchdog: false,
      fence,
      serverUs: fence,
      keyBase64: Buffer.from(`lock:${resource}:${lock}`).toString('base64'),
    },
    {
      ...who,
      kind: 'release',
      outcome: 'released',
      holdMs: 12.5,
      leaseMs: 5000,
      renewals: 0,
      peakUse: 0.0025,
      lost: false,
      loopDelayMs: 1.5,
      fence,
      serverUs: fence + 40,
      settledUs: fence + 30,
    },
  ];
}
