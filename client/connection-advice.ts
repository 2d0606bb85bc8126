import type { LockConnection } from './lock-connection.js';
import type { Warnings } from './warnings.js';

/** Warns of each setting of a connection that is unsafe for locks. */
export function adviseOnConnection(_connection: LockConnection, _warnings: Warnings): void {}
