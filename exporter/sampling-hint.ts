import type { Settings } from './config/settings.js';
import type { SamplerState } from './sampler/sampler.js';

const PASSWORDS =
  'hand the right password over with --redis-password-file, its user with --redis-user, and what Sentinels want with --redis-sentinel-password-file';
/** Patterns that a hint names; more prefixes are rare, and the line is for people. */
const MAX_PATTERNS = 16;

/** What to do about a sampling that does not work, where the reason alone does not tell it. */
export function samplingHint(
  reason: SamplerState['reason'],
  { keyPrefixes }: Pick<Settings, 'keyPrefixes'>,
): string | undefined {
  if (reason === 'no_auth') return PASSWORDS;
  if (reason !== 'no_permission') return undefined;
  const patterns = keyPrefixes.slice(0, MAX_PATTERNS).map(keyPattern).join(' ');
  const more = keyPrefixes.length > MAX_PATTERNS ? ' …' : '';
  return `give the user the commands of docs/operations.md, and the keys of each --key-prefix: ${patterns}${more}`;
}

/** The pattern of an ACL for a literal prefix. */
function keyPattern(prefix: string): string {
  return `~${prefix.replace(/[*?[\\]/g, '\\$&')}*`;
}
