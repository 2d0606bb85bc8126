import type { Random } from '../contract/clock.js';
import type { AcquireCall } from './acquire-call.js';
import type { CleanUp } from './clean-up.js';
import type { CommandRoom } from './command.js';
import type { EventSink } from './event-sink.js';
import type { Moment, ServerStamp } from './events.js';
import type { HoldRegistry } from './hold-registry.js';
import type { LoadShedding } from './load-shedding.js';
import type { LoopDelay } from './loop-delay.js';
import type { TokenSource } from './tokens.js';
import type { Warnings } from './warnings.js';

/** What all locks of one client share. */
export interface ClientParts extends CommandRoom {
  readonly tokens: TokenSource;
  readonly random: Random;
  readonly events: EventSink;
  readonly holds: HoldRegistry;
  /** Acquire calls under way. */
  readonly calls: Set<AcquireCall>;
  readonly loopDelay: LoopDelay;
  readonly cleanUp: CleanUp;
  readonly warnings: Warnings;
  /** Undefined: off. */
  readonly shedding: LoadShedding | undefined;
  readonly commandTimeoutMs: number;
  readonly fenceTtlMs: number;
  readonly traceId: () => string | undefined;
  /** The present moment, for an event. */
  moment(server?: ServerStamp): Moment;
}
