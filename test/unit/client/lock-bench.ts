import { expect } from 'vitest';
import type { EmitterSource, EventChannel, PendingEvent } from '../../../client/emitter/emitter.js';
import {
  type AcquireOptions,
  type Lease,
  LockClient,
  type LockClientOptions,
  type LockWarning,
} from '../../../client/index.js';
import { EVENT_SCHEMAS, type LockEvent } from '../../../contract/event.js';
import type { LockScripts } from '../../../lua/scripts.js';
import { FakeClock, seededRandom } from '../../support/clocks.js';
import { FakeLockServer, fakeConnection } from './fake-lock-server.js';

/** Keeps every event, encoded when it was emitted and held against the contract. */
export class EventLog {
  readonly events: LockEvent[] = [];
  readonly urgent: string[] = [];
  source: EmitterSource | undefined;
  holdChanges = 0;
  closedWithin: number | undefined;

  readonly open = (source: EmitterSource): EventChannel => {
    this.source = source;
    return {
      emit: (event) => this.#add(event),
      holdsChanged: () => {
        this.holdChanges += 1;
      },
      close: async (timeoutMs) => {
        this.closedWithin = timeoutMs;
      },
    };
  };

  /** One line for each event: `acquire acquired`, `lost by deadline`, `commit`. */
  get story(): string[] {
    return this.events.map((event) => {
      if (event.kind === 'lost') return `lost by ${event.by}`;
      const reason = 'reason' in event && event.reason !== undefined ? ` (${event.reason})` : '';
      return 'outcome' in event ? `${event.kind} ${event.outcome}${reason}` : event.kind;
    });
  }

  last<Kind extends LockEvent['kind']>(kind: Kind): LockEvent & { kind: Kind } {
    const found = this.events.findLast((event) => event.kind === kind);
    if (found === undefined) throw new Error(`no ${kind} event in: ${this.story.join(', ')}`);
    return found as LockEvent & { kind: Kind };
  }

  #add(pending: PendingEvent): void {
    const event = pending.encode();
    // Strict: a field that the contract does not know, or an undefined one, is a fault of the client.
    EVENT_SCHEMAS[event.kind].parse(event);
    // What goes over the wire is the same event.
    if (pending.encodeJson) expect(JSON.parse(pending.encodeJson())).toEqual(event);
    const unset = Object.entries(event).filter(([, value]) => value === undefined);
    if (unset.length > 0) throw new Error(`undefined fields: ${unset.map(([name]) => name).join(', ')}`);
    if (pending.urgent) this.urgent.push(event.kind);
    this.events.push(event);
  }
}

/** Options of a bench: those of the client, and a way to stand between it and the fake server. */
export interface BenchOptions extends Partial<LockClientOptions> {
  wrapScripts?: (scripts: LockScripts) => LockScripts;
}

/** A lock client on a fake clock and a fake server. */
export function makeBench({ wrapScripts = (scripts) => scripts, ...options }: BenchOptions = {}) {
  const clock = new FakeClock();
  const server = new FakeLockServer(clock);
  const log = new EventLog();
  const warnings: LockWarning[] = [];
  const redis = fakeConnection();
  const client = new LockClient({
    redis,
    emitter: log,
    clock,
    random: seededRandom(7),
    scripts: wrapScripts(server.scripts),
    onWarning: (warning) => warnings.push(warning),
    ...options,
  });
  const grant = async (
    key = 'lock:stock:1',
    settings: AcquireOptions = { leaseMs: 1000 },
  ): Promise<Lease> => {
    const result = await client.tryAcquire(key, settings);
    if (result.outcome !== 'acquired') throw new Error(`not acquired but ${result.outcome}`);
    return result.lease;
  };
  return { clock, server, log, warnings, redis, client, grant };
}

/** Scripts that also note the token of every acquire. */
export function notingTokens(tokens: string[]): (scripts: LockScripts) => LockScripts {
  return (scripts) => ({
    ...scripts,
    acquire: (connection, args) => {
      tokens.push(args.token);
      return scripts.acquire(connection, args);
    },
  });
}
