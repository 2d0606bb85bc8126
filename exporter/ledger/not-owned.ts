import type { LockEvent, LostEvent } from '../../contract/event.js';
import { wasGrantedBeforeEnd } from '../../contract/later-grant.js';

type Ending<Kind> = Extract<LockEvent, { kind: Kind; outcome: 'expired' | 'stolen' }>;

/** An event that tells that its hold does not own the lock, or did not when it was lost. */
export type NotOwnedEvent = Ending<'renew'> | Ending<'check'> | Ending<'release'> | LostEvent;

/**
 * The event, when its answer says "you do not own this lock". A `lost` found by the release is left out: the
 * work had settled by then, and the `release` that follows it tells when.
 */
export function readNotOwned(event: LockEvent): NotOwnedEvent | undefined {
  switch (event.kind) {
    case 'renew':
    case 'check':
    case 'release':
      return event.outcome === 'expired' || event.outcome === 'stolen' ? event : undefined;
    case 'lost':
      return event.by === 'release' ? undefined : event;
    case 'acquire':
    case 'commit':
    case 'fence':
    case 'duplicate':
      return undefined;
    default:
      return event satisfies never;
  }
}

/**
 * Whether another was granted the lock before this hold's work settled.
 *
 * A later fence says that another was granted. Was the work still on? With `renew`, `check` and `lost` it was
 * when the answer came, so the fences alone prove it. With `release` it had settled before the answer, so
 * `wasGrantedBeforeEnd` looks at the times.
 *
 * What it cannot see: an overlap whose grant was followed by a further one after the work settled, when nothing
 * asked Redis in between (only the latest grant is told); one whose later grant has a lower fence, as after a
 * failover to a server whose clock lags; one among holds taken without fences; and any when the holder never
 * comes back.
 */
export function provesOverlap(event: NotOwnedEvent, fence: number): boolean {
  const { latestFence, latestGrantUs } = event;
  if (event.kind !== 'release') return latestFence !== undefined && latestFence > fence;
  return wasGrantedBeforeEnd({ fence, latestFence, latestGrantUs, settledUs: event.settledUs });
}
