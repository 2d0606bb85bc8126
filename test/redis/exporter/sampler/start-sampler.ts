import { systemClock } from '../../../../contract/clock.js';
import { createResourceClassifier } from '../../../../contract/resource.js';
import { createCommandStep } from '../../../../exporter/sampler/command-step.js';
import { type ConnectionSettings, connectSampler } from '../../../../exporter/sampler/connection.js';
import { createFallbackStep } from '../../../../exporter/sampler/fallback-step.js';
import type { Schedule } from '../../../../exporter/sampler/ports.js';
import { createSampler, type Sampler, type SamplerOptions } from '../../../../exporter/sampler/sampler.js';
import { createScriptStep } from '../../../../exporter/sampler/script-step.js';
import { loadLockScripts } from '../../../../lua/scripts.js';
import { RecordedSamples } from './recorded-samples.js';

/** A sampler on a real connection, ticked by the test. */
export interface TestSampler {
  sampler: Sampler;
  records: RecordedSamples;
  /** Lock keys by name, as the sampler sees them now. */
  keys(): string[];
  stop(): Promise<void>;
}

export interface TestSamplerOptions {
  keyPrefixes?: readonly string[];
  connection?: Partial<ConnectionSettings>;
  sampler?: Partial<SamplerOptions>;
  by?: 'script' | 'commands' | 'fallback';
}

/** A schedule that never ticks by itself. */
const byHand = (): Schedule => ({ msToNext: () => 1000, stop() {} });

/** Makes a sampler for the server on the port; `start()` it, or only `tick()`. */
export function makeSampler(port: number, options: TestSamplerOptions = {}): TestSampler {
  const { keyPrefixes = ['lock:'], by = 'script' } = options;
  const clock = systemClock();
  const records = new RecordedSamples();
  const redis = connectSampler({
    address: { kind: 'tcp', host: '127.0.0.1', port },
    db: 0,
    user: undefined,
    readPassword: () => undefined,
    tls: undefined,
    commandTimeoutMs: 1000,
    clock,
    random: () => 0.5,
    ...options.connection,
  });
  const script = createScriptStep(redis, loadLockScripts(), clock);
  const commands = createCommandStep(redis, clock);
  const sampler = createSampler({
    store: 'test',
    redis,
    step: { script, commands, fallback: createFallbackStep(script, commands) }[by],
    keyPrefixes,
    classify: createResourceClassifier([], keyPrefixes),
    schedule: byHand,
    dutyShare: 1,
    clock,
    port: records,
    ...options.sampler,
  });
  const keys = () => [...sampler.locks()].map(({ key }) => key.toString()).sort();
  const stop = async () => {
    await sampler.stop();
    redis.close();
  };
  return { sampler, records, keys, stop };
}
