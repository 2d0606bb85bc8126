import type { ShownFinding } from '../../exporter/findings.js';
import type { LocksAnswer, ShownLock } from '../../exporter/http/locks-answer.js';
import type { Listeners, StatusAnswer } from '../../exporter/http/status-answer.js';
import type { Cause, LossFacts, OverlapProof, Party } from '../../exporter/ledger/finding.js';
import type { HotLock } from '../../exporter/ledger/hot-keys.js';
import type { TimelineEntry } from '../../exporter/ledger/timeline.js';
import type { FindingsAnswer, HotAnswer, TimelineAnswer } from '../../exporter/lock-watch.js';
import type { LastSample, SamplerState } from '../../exporter/sampler/sampler.js';

/** Form of a field's value, and what it means. */
export type Field = readonly [form: string, meaning: string];

/** A meaning for each field of an answer: the compiler refuses one that is missing, and one that is not in the answer. */
export type Fields<Answer> = { readonly [Name in keyof Answer]-?: Field };

/** A meaning for each word that a field may have. */
type Words<Word extends string> = { readonly [One in Word]: string };

const STORE: Field = ['text', 'Name of the store that the exporter serves.'];
const LOCK: Field = ['lock id', 'Names the lock: 16 hex digits, made of store and key.'];
const RESOURCE: Field = ['text', 'Its resource.'];

export const FINDINGS_FIELDS: Fields<FindingsAnswer> = {
  store: STORE,
  total: ['number', 'Findings since the start, those that are gone from the list included.'],
  findings: ['list', 'The youngest first.'],
};

export const FINDING_FIELDS: Fields<ShownFinding> = {
  kind: ['word', 'What was found; below.'],
  foundAtMs: ['wall time', 'When this exporter found it, by its own clock.'],
  store: STORE,
  resource: RESOURCE,
  lock: LOCK,
  holder: ['party', 'Whom it is about: of an overlap, whose work was still on.'],
  other: [
    'party or null',
    'Of an overlap, who was granted the lock first meanwhile, as far as known; of a ghost holder, whose key was found (only `owner` is known), null when the key was gone; of a fence regression, who had the higher fence.',
  ],
  others: [
    'list of parties',
    'Of an overlap: everybody who was granted the lock meanwhile, the first first, `other` among them; at most 8. Empty for other kinds.',
  ],
  moreOthers: ['number', 'Further ones that are known of.'],
  suspectFromUs: [
    'Redis time or null',
    'From here on both may have written: of an overlap, the earliest grant to another that is known here, so it is too late where the first other reports to another exporter, or not at all; of a ghost holder, the look that found the key gone or another’s. null: not known.',
  ],
  suspectUntilUs: [
    'Redis time or null',
    'When the holder’s work settled, at the earliest. null: not known, or not over.',
  ],
  serverId: ['text or null', 'The Redis server (`run_id`) of these times; null where it is not known.'],
  lengthMs: [
    'ms or null',
    'How long an overlap was: its suspect window; null as long as it is not known, and for other kinds.',
  ],
  approximate: [
    'true or false',
    '`lengthMs` is an estimate: the first other never reported here, so that there may be an earlier one; or an earlier one did, but may have been before the holder; or an end is not known by the server’s clock.',
  ],
  cause: ['word or null', 'What probably led to it; below. null where nothing is to be explained.'],
  provenBy: ['word or null', 'What showed an overlap; below. null for other kinds.'],
  loss: [
    'loss or null',
    'Of a loss, and of an overlap whose holder told its loss: how its client knew, and what it measured. null: no such report.',
  ],
  takenOver: [
    'true, false or null',
    'Of an abandoned hold: another was granted the lock since. It may turn from false to true later. null for other kinds.',
  ],
  timeline: ['path', 'Path of this listener with the history of the lock.'],
};

export const PARTY_FIELDS: Fields<Party> = {
  owner: ['digest', 'Owner of the hold: the first 16 hex digits of the SHA-1 of its token.'],
  fence: ['number', 'Its fencing number.'],
  grantUs: ['Redis time', 'When it was granted, by the clock of `serverId`.'],
  serverId: ['text', 'The Redis server that granted it.'],
  producer: ['text', 'The emitter that reported it: one client of one run of a process.'],
  app: ['text', 'Its application.'],
  instance: ['text', 'Its process.'],
};

export const LOSS_FIELDS: Fields<LossFacts> = {
  by: ['word', 'How the client knew, as in the [event](events.md).'],
  sinceGrantMs: ['ms', 'From the grant until it knew.'],
  leaseMs: ['ms', 'The lease.'],
  loopDelayMs: [
    'ms',
    'Worst delay of its event loop during the hold: near the lease, the process stood still.',
  ],
};

export const FINDING_KINDS: Words<ShownFinding['kind']> = {
  overlap:
    'Another was granted the lock before the work of the holder settled. Mutual exclusion was violated.',
  lost: 'A client reported that its lease was over, or the lock gone, while its work went on. Nobody is known to have been granted it meanwhile: then there is an overlap in its place.',
  ghost_holder:
    'A client believes to hold a lock that Redis has lost: a look on the master found the key gone or another’s, and a later batch of the client still reports the hold. Found before the client knows.',
  abandoned:
    'A client fell silent and stayed silent beyond the end of its lease, without release or goodbye. A dead process, or one that cannot reach this exporter; with `takenOver` another has the lock since.',
  zombie_renewal:
    'The expiry of a key rises again and again after its owner’s release or goodbye: a watchdog runs on.',
  fence_regression:
    'A grant has a fence that is not above that of an earlier grant, in the order of one server’s clock.',
};

export const CAUSES: Words<Cause> = {
  pause: 'The whole process stood still: its event loop was blocked for at least half of the lease.',
  slow_work: 'The process ran, but the work took longer than the lease, or with a watchdog than `maxHoldMs`.',
  renewal_failed:
    'The process ran, and a watchdog was to renew the lease, but no renewal was confirmed in time: the network between that instance and Redis, or Redis itself.',
  server_changed: 'Another server answered than the one that had granted: failover or restart.',
  deleted:
    'The key went more than 50 ms before its lease ended: DEL, eviction or FLUSHALL; the exporter cannot tell which.',
  unknown: 'The reports do not tell.',
};

export const PROOFS: Words<OverlapProof> = {
  renew: 'Redis’s answer to a renewal of the holder told a later fence.',
  check: 'Redis’s answer to a `check()` of the holder told a later fence.',
  lost: 'The client’s report of the loss told a later fence.',
  release: 'Redis’s answer to the release of the holder told a later fence.',
  reports:
    'The reports of two clients, held side by side: the later grant comes before the end of the earlier work.',
};

export const TIMELINE_FIELDS: Fields<TimelineAnswer> = {
  store: STORE,
  lock: LOCK,
  entries: [
    'list',
    'In the order in which they arrived here, the oldest first; empty when nothing is remembered.',
  ],
};

export const ENTRY_FIELDS: Fields<TimelineEntry> = {
  kind: [
    'word',
    'A kind of [event](events.md), or a kind of finding; `overlap_end` when the length of an overlap became known.',
  ],
  outcome: ['word', 'Of an event: its outcome, or what told the loss (`by`). Of a finding: its `cause`.'],
  reason: ['word', 'Of an event: its reason. Of an overlap’s end: `approximate` where its length is.'],
  serverUs: [
    'Redis time',
    'When Redis answered; of a finding, the begin of its window. The only time to order by, and only within one `serverId`. A `lost`, `commit`, `fence` or `duplicate` has none.',
  ],
  serverId: ['text', 'The Redis server of `serverUs`.'],
  atMs: ['wall time', 'By the client’s clock; of a finding, by this exporter’s.'],
  owner: ['digest', 'Owner of the hold.'],
  fence: ['number', 'Its fencing number.'],
  latestFence: [
    'number',
    'The latest fence of the lock that Redis told; above `fence`: another was granted. Of a finding, the fence of the other.',
  ],
  latestGrantUs: ['Redis time', 'When that one was granted.'],
  settledUs: ['Redis time', 'When the work settled; of an overlap, the end of its window.'],
  leaseMs: ['ms', 'The lease asked for.'],
  spanMs: [
    'ms',
    'Of an acquire: how long it waited. Of a loss, release or commit: since the grant. Of an overlap’s end: its length.',
  ],
  attempts: ['number', 'Of an acquire: commands sent.'],
  loopDelayMs: [
    'ms',
    'Of a loss or release: how long the event loop stood still at the worst, during the hold.',
  ],
  producer: ['text', 'The emitter that reported it.'],
  app: ['text', 'Its application.'],
  instance: ['text', 'Its process.'],
};

export const HOT_FIELDS: Fields<HotAnswer> = {
  store: STORE,
  windowMs: ['ms', 'Length of a window.'],
  endedAtMs: ['wall time or null', 'When the window ended; null before the first is over.'],
  windowComplete: [
    'true or false',
    'false before the first window is over: the rest says nothing then, and `locks` is empty.',
  ],
  nextAtMs: ['wall time', 'When the present window ends, and its locks are told.'],
  attempts: ['number', 'Attempts on all locks in the window.'],
  errorBound: [
    'number',
    'No `attempts` of a lock is more than this above the true number, and every lock with more attempts than this is among those counted.',
  ],
  locks: ['list', 'The hottest first.'],
};

export const HOT_LOCK_FIELDS: Fields<HotLock> = {
  lock: LOCK,
  resource: RESOURCE,
  attempts: ['number', 'Commands sent to get it; at most `attemptsError` above the true number.'],
  attemptsError: ['number', '0 unless more locks were in use than are counted.'],
  contendedRatio: ['0 to 1', 'Share of the attempts that met a holder.'],
  busyRatio: [
    '0 to 1',
    'Share of the window in which it was held, each hold up to its lease and not beyond a loss.',
  ],
  headroomRatio: ['0 to 1', 'Share of the window in which it was free.'],
  meanHoldMs: ['ms or null', 'Mean work of the holds that ended in the window; null when none did.'],
};

export const LOCKS_FIELDS: Fields<LocksAnswer> = {
  store: STORE,
  sample: [
    'word',
    '`ok`, or why there is no sample: `starting`, `failed`, `stale`, `stopped`, or `off` with `--sample-mode off`.',
  ],
  reason: ['word or null', 'Why it is not `ok`: a word of the label `reason` of `redis_lock_up`.'],
  takenAtMs: ['wall time or null', 'When the sample was taken; null without a good one.'],
  truncated: ['true or false', 'The sweep was cut, so that locks may be missing or out of date.'],
  matching: ['number', 'Locks that fit the query, those beyond the limit included.'],
  locks: ['list', 'Empty without a good sample.'],
};

export const LOCK_FIELDS: Fields<ShownLock> = {
  lock: LOCK,
  resource: RESOURCE,
  type: ['word or null', 'Type of the key as Redis names it; null where it was not asked for.'],
  leftMs: [
    'ms or null',
    'What is left of the key’s life, counted on from the last look; null: without expiry.',
  ],
  expired: [
    'true or false',
    'Its lease has ended since the last look (`leftMs` is 0): Redis may have let it go, or given it to another.',
  ],
  owner: ['digest or null', 'Digest of the value; null when it is no string, or too large to read.'],
  holder: [
    'object or null',
    '`app`, `instance` and `fence` of that owner, where its client reported the hold here; null: not known here.',
  ],
  firstSeenUs: ['Redis time', 'When the present owner was first seen.'],
  lastSeenUs: ['Redis time', 'The last look at it.'],
  key: ['text', 'The full key. Only with `--reveal-keys`.'],
  keyBase64: ['base64', 'The same for a key that is no UTF-8. Only with `--reveal-keys`.'],
};

export const STATUS_FIELDS: Fields<StatusAnswer> = {
  store: STORE,
  epoch: [
    'text',
    'Random name of this run: another one means that the exporter was restarted, and has forgotten all.',
  ],
  version: ['text', 'Version of this package.'],
  startedAtMs: ['wall time', 'When it started.'],
  uptimeS: ['s', 'How long it has been running, by the monotonic clock.'],
  sampler: ['object', 'How sampling is; below.'],
  producers: ['number', 'Producers known now.'],
  ingest: ['object', 'What was posted; below.'],
  ledger: ['object', 'How full the memory for holds is; below.'],
  listeners: ['object', 'Where it listens; below.'],
};

export const INGEST_FIELDS: Fields<StatusAnswer['ingest']> = {
  batches: [
    'object',
    'Batches since the start, by result: the words of `redis_lock_exporter_batches_total`, those that occurred.',
  ],
  events: [
    'object',
    'Events since the start: `received`, `accepted`, `rejected`, `duplicate`. The first is the sum of the others.',
  ],
};

export const LEDGER_FIELDS: Fields<StatusAnswer['ledger']> = {
  holds: ['number', 'Holds that are on, by their clients’ reports.'],
  ended: ['number', 'Holds that have ended and are kept for late reports.'],
  locks: ['number', 'Locks of these holds.'],
  producers: ['number', 'Producers of these holds.'],
  evicted: ['object', 'Forgotten for want of room since the start, by table: `holds`, `ended`, `producers`.'],
};

export const LISTENERS_FIELDS: Fields<Listeners> = {
  metrics: ['URL', 'Of `/metrics`.'],
  local: ['URL', 'Of this listener; `unix:/path` for a socket.'],
};

export const SAMPLER_FIELDS: Fields<SamplerState & { readonly mode: string }> = {
  mode: ['word', '`--sample-mode`. With `off` it is the only field.'],
  status: ['word', '`starting`, `ok`, `failed`, `stale` (no look ended when one should have) or `stopped`.'],
  reason: [
    'word',
    'Why there is no good sample: a word of the label `reason` of `redis_lock_up`. Absent when there is one.',
  ],
  last: ['object', 'The last good sample, also while later ones fail. Absent before the first.'],
  skippedTicks: ['number', 'Ticks of the schedule that were left out.'],
  failedLooks: ['number', 'Looks that failed.'],
};

export const SAMPLE_FIELDS: Fields<LastSample> = {
  takenAtMs: ['wall time', 'When it was taken.'],
  durationMs: ['ms', 'How long it took.'],
  truncated: ['true or false', 'It was cut, and the next one goes on where it was.'],
  faults: ['list', 'Words of what failed in a part of it.'],
  known: ['number', 'Lock keys known, those of earlier looks of the same round included.'],
  keys: ['number', 'Distinct lock keys met.'],
  ignored: ['number', 'Keys under a prefix that are no locks by their type.'],
  vanished: ['number', 'Keys that were gone before they were looked at.'],
  moved: ['number', 'Keys that another node of the cluster has.'],
  steps: ['number', 'Steps that it took, each one command or a few.'],
  costUs: ['µs', 'What it cost the server.'],
};
