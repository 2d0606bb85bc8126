import type { Line } from './lines.js';

/** How one alert is proven; the files in `alerts/tests/` are made from it. Minutes count from the start of the test. */
export interface Proof {
  /** Without the prefix RedisLock. */
  readonly alert: string;
  /** Where an alert has several rules, which one: part of the file's name. */
  readonly variant?: string;
  /** Why these numbers. */
  readonly why: string;
  /** Series that make it fire, as near above the threshold and floor as can be. */
  readonly lines: readonly Line[];
  /** In this minute it does not fire yet, */
  readonly notYet: number;
  /** in this one it does. */
  readonly firesAt: number;
  /** Still firing then, and no longer then: for alerts that end by themselves. */
  readonly stillAt?: number;
  readonly goneAt?: number;
  /** All of its labels but the scope's. */
  readonly labels: Readonly<Record<string, string>>;
  /** The scope's labels: those of the series that stay. */
  readonly scope: 'resource' | 'store' | 'job' | 'instance';
  /** The description after "Lock resource … : ", with the value as a person reads it. */
  readonly says: string;
  /** Exporters named in `seen_by`. */
  readonly seenBy?: string;
  /** Series at or just below each threshold and floor, each on its own; none may fire at any time. */
  readonly silent: Readonly<Record<string, readonly Line[]>>;
  /** Cases that fire like the first one, at these minutes, with the same labels. */
  readonly alsoFires?: Readonly<Record<string, readonly Line[]>>;
  /** Generated variants that make no sense for this alert, each with the reason. */
  readonly skip?: Partial<Readonly<Record<'gap' | 'restart' | 'traffic' | 'cluster', string>>>;
}
