import type { RedisReason } from '../../../../contract/outcomes.js';
import type { ResourceSummary, SamplePort, SampleReport } from '../../../../exporter/sampler/ports.js';

/** A sample as a test looks at it. */
export interface RecordedSample extends Omit<SampleReport, 'resources'> {
  resources: Map<string, ResourceSummary>;
}

/** What a sampler published, in order. */
export class RecordedSamples implements SamplePort {
  readonly samples: RecordedSample[] = [];
  readonly withdrawn: RedisReason[] = [];
  readonly errors: RedisReason[] = [];
  /** `ok`, or the reason of the last withdrawal. */
  up: RedisReason | 'ok' | undefined;

  publishSample(report: SampleReport): void {
    const resources = new Map([...report.resources].map((summary) => [summary.resource, summary]));
    this.samples.push({ ...report, resources });
    this.up = 'ok';
  }

  withdrawSample(_store: string, reason: RedisReason): void {
    this.withdrawn.push(reason);
    this.up = reason;
  }

  sampleError(_store: string, reason: RedisReason): void {
    this.errors.push(reason);
  }

  get last(): RecordedSample {
    const last = this.samples.at(-1);
    if (last === undefined) throw new Error('no sample was published');
    return last;
  }
}
