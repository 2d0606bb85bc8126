import { AT_STORE, gauge, type Line } from './lines.js';

/** The policy of a resource, as the exporter shows it. */
export function policyLine(labels: Readonly<Record<string, string>>, resource = 'stock'): Line {
  const policy = { kind: 'mutex', page: 'true', expiry: 'optional', events: 'expected', ...labels };
  return gauge('redis_lock_resource_info', { ...AT_STORE, resource, ...policy }, () => 1);
}
