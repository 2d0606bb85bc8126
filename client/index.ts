export type { Clock, Random, Timer } from '../contract/clock.js';
export { ERRORS, type ErrorId, RedisLockError } from '../contract/errors.js';
export type { LockEvent } from '../contract/event.js';
export { lockId, ownerDigest } from '../contract/lock-id.js';
export type * from '../contract/outcomes.js';
export { parseResourceRule, type ResourceRule } from '../contract/resource.js';
export { REPLY_GRACE_MS } from './acquire-call.js';
export {
  type Address,
  type ClusterConnectionOptions,
  type CommonConnectionOptions,
  createLockConnection,
  type SentinelConnectionOptions,
  type ServerConnectionOptions,
} from './connection.js';
export { judgeConnection } from './connection-advice.js';
export {
  type Emitter,
  type EmitterSource,
  type EventChannel,
  type EventServer,
  noEmitter,
  type PendingEvent,
} from './emitter/emitter.js';
export { createHttpEmitter, type HttpEmitter, type HttpEmitterOptions } from './emitter/http-emitter.js';
export {
  createInProcessEmitter,
  type InProcessEmitter,
  type InProcessEmitterOptions,
} from './emitter/in-process-emitter.js';
export {
  AcquireAbortedError,
  AcquireError,
  AcquireFailedError,
  AcquireTimeoutError,
  AcquireUnknownError,
  LeaseLostError,
  LockContendedError,
  type LockLabel,
} from './errors.js';
export { DIAGNOSTICS_CHANNEL, type DiagnosticsMessage } from './event-sink.js';
export { Lease } from './lease.js';
export type { SheddingOptions } from './load-shedding.js';
export { LockClient, type LockClientStats } from './lock-client.js';
export type { LockConnection } from './lock-connection.js';
export {
  type AcquireDefaults,
  type AcquireOptions,
  DEFAULT_COMMAND_TIMEOUT_MS,
  DEFAULT_FENCE_TTL_MS,
  DEFAULT_MAX_HOLD_LEASES,
  type LockClientOptions,
  type LockKey,
} from './options.js';
export type {
  AcquireFailure,
  AcquireResult,
  CheckResult,
  EndedResult,
  FailedResult,
  NotOwnedResult,
  ReleaseResult,
  RenewResult,
} from './results.js';
export { DEFAULT_RETRY_BASE_MS, DEFAULT_RETRY_CAP_MS, type RetryOptions } from './retry.js';
export type { LockWarning, OnWarning } from './warnings.js';
