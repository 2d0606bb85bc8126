import type { RedisReason } from '../../../../contract/outcomes.js';
import type { ObservedChanges } from '../../../../exporter/sampler/observed-changes.js';
import type {
  DownReason,
  HeldLook,
  HeldLookPort,
  HeldLookReport,
  SampledResource,
  SamplePort,
  SampleReport,
  SkipReason,
} from '../../../../exporter/sampler/ports.js';

/** A sample as a test looks at it. */
export interface RecordedSample extends Omit<SampleReport, 'resources' | 'changes'> {
  resources: Map<string, SampledResource>;
}

/** What a sampler published, in order. */
export class RecordedSamples implements SamplePort, HeldLookPort {
  readonly samples: RecordedSample[] = [];
  readonly withdrawn: DownReason[] = [];
  readonly errors: RedisReason[] = [];
  readonly skipped: SkipReason[] = [];
  readonly heldLooks: (readonly HeldLook[])[] = [];
  /** All changes so far, by resource. */
  readonly changes = new Map<string, Omit<ObservedChanges, 'resource'>>();
  /** `ok`, or the reason of the last withdrawal. */
  up: DownReason | 'ok' | undefined;

  publishSample(report: SampleReport): void {
    const resources = new Map([...report.resources].map((summary) => [summary.resource, summary]));
    for (const { resource, ...change } of report.changes) this.#add(resource, change);
    this.samples.push({ ...report, resources });
    this.up = 'ok';
  }

  withdrawSample(_store: string, reason: DownReason): void {
    this.withdrawn.push(reason);
    this.up = reason;
  }

  sampleError(_store: string, reason: RedisReason): void {
    this.errors.push(reason);
  }

  sampleSkipped(_store: string, reason: SkipReason): void {
    this.skipped.push(reason);
  }

  heldLooked({ looks }: HeldLookReport): void {
    this.heldLooks.push([...looks]);
  }

  get last(): RecordedSample {
    const last = this.samples.at(-1);
    if (last === undefined) throw new Error('no sample was published');
    return last;
  }

  #add(resource: string, more: Omit<ObservedChanges, 'resource'>): void {
    const sofar = this.changes.get(resource) ?? { renewals: 0, handovers: 0, released: 0, expired: 0 };
    this.changes.set(resource, {
      renewals: sofar.renewals + more.renewals,
      handovers: sofar.handovers + more.handovers,
      released: sofar.released + more.released,
      expired: sofar.expired + more.expired,
    });
  }
}
