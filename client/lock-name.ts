import { MAX_KEY_BASE64_LENGTH } from '../contract/event.js';
import { lockId } from '../contract/lock-id.js';
import { cleanResourceName, type ResourceClassifier } from '../contract/resource.js';
import { fenceKey } from '../lua/fence-key.js';
import { asciiJson } from './ascii-json.js';
import type { LockLabel } from './errors.js';
import type { LockKey } from './options.js';

/** Names kept by a {@link LockNames}: beyond it all are forgotten and made again on demand. */
const MAX_KEPT_NAMES = 2048;

/** All names of one lock. What costs a digest is made on first use: only events, errors and reports need it. */
export class LockName implements LockLabel {
  /** As given by the caller, and as sent: ioredis puts its `keyPrefix` in front. */
  readonly key: LockKey;
  /** As Redis stores it. */
  readonly fullKey: LockKey;
  readonly #store: string;
  readonly #keyPrefix: string;
  readonly #classify: ResourceClassifier;
  #fenceKey: LockKey | undefined;
  #lock: string | undefined;
  #resource: string | undefined;
  #json: string | undefined;
  #keyBase64: string | null | undefined;

  constructor(key: LockKey, store: string, keyPrefix: string, classify: ResourceClassifier) {
    this.key = key;
    this.fullKey = joinPrefix(keyPrefix, key);
    this.#store = store;
    this.#keyPrefix = keyPrefix;
    this.#classify = classify;
  }

  /** Name of the fence key, as sent. */
  get fenceKey(): LockKey {
    this.#fenceKey ??= fenceKey(this.fullKey, this.#keyPrefix);
    return this.#fenceKey;
  }

  get lock(): string {
    this.#lock ??= lockId(this.#store, this.fullKey);
    return this.#lock;
  }

  get resource(): string {
    this.#resource ??= this.#classify(this.fullKey);
    return this.#resource;
  }

  /** The members `resource` and `lock` of an event, as JSON in ASCII: made once and not for each event. */
  get json(): string {
    this.#json ??= `"resource":${asciiJson(this.resource)},"lock":"${this.lock}"`;
    return this.#json;
  }

  /** The bytes of the full key in base64; undefined for one too long for the contract. */
  get keyBase64(): string | undefined {
    if (this.#keyBase64 === undefined) {
      const text = Buffer.from(this.fullKey).toString('base64');
      this.#keyBase64 = text.length <= MAX_KEY_BASE64_LENGTH ? text : null;
    }
    return this.#keyBase64 ?? undefined;
  }
}

/** The names of recently used locks. */
export class LockNames {
  readonly #store: string;
  readonly #keyPrefix: string;
  readonly #classify: ResourceClassifier;
  readonly #kept = new Map<string, LockName>();

  constructor(store: string, keyPrefix: string, classify: ResourceClassifier) {
    this.#store = store;
    this.#keyPrefix = keyPrefix;
    this.#classify = classify;
  }

  /** @param resource wins over the rules */
  of(key: LockKey, resource?: string): LockName {
    if (resource !== undefined) {
      return new LockName(key, this.#store, this.#keyPrefix, () => cleanResourceName(resource));
    }
    if (typeof key !== 'string') return new LockName(key, this.#store, this.#keyPrefix, this.#classify);
    return this.#kept.get(key) ?? this.#keep(key);
  }

  #keep(key: string): LockName {
    if (this.#kept.size >= MAX_KEPT_NAMES) this.#kept.clear();
    const name = new LockName(key, this.#store, this.#keyPrefix, this.#classify);
    this.#kept.set(key, name);
    return name;
  }
}

function joinPrefix(keyPrefix: string, key: LockKey): LockKey {
  if (keyPrefix === '') return key;
  return typeof key === 'string' ? keyPrefix + key : Buffer.concat([Buffer.from(keyPrefix), key]);
}
