import { systemClock } from '../../../../contract/clock.js';
import { createResourceClassifier } from '../../../../contract/resource.js';
import { createCommandStep } from '../../../../exporter/sampler/command-step.js';
import { type ConnectionSettings, connectSampler } from '../../../../exporter/sampler/connection.js';
import { type Deployment, type NodeParts, singleServer } from '../../../../exporter/sampler/deployment.js';
import { HeldKeys } from '../../../../exporter/sampler/held-keys.js';
import { HeldSource } from '../../../../exporter/sampler/held-source.js';
import { HeldWatch } from '../../../../exporter/sampler/held-watch.js';
import { lockKeys } from '../../../../exporter/sampler/key-pattern.js';
import { KeyspaceSource } from '../../../../exporter/sampler/keyspace-source.js';
import { KeyspaceView } from '../../../../exporter/sampler/keyspace-view.js';
import { createNode } from '../../../../exporter/sampler/node.js';
import type { Schedule } from '../../../../exporter/sampler/ports.js';
import { createSampler, type Sampler, type SamplerOptions } from '../../../../exporter/sampler/sampler.js';
import { createScriptStep } from '../../../../exporter/sampler/script-step.js';
import type { SweepLimits } from '../../../../exporter/sampler/sweep.js';
import { loadLockScripts } from '../../../../lua/scripts.js';
import { RecordedSamples } from './recorded-samples.js';

/** A sampler on real connections, ticked by the test. */
export interface TestSampler {
  sampler: Sampler;
  /** The looks at held keys beside the sweeps, ticked by the test. */
  watch: HeldWatch;
  heldKeys: HeldKeys;
  records: RecordedSamples;
  /** Faults of the program. */
  faults: unknown[];
  /** Lock keys by name, as the sampler sees them now. */
  keys(): string[];
  stop(): Promise<void>;
}

export interface TestSamplerOptions {
  keyPrefixes?: readonly string[];
  connection?: Partial<ConnectionSettings>;
  sampler?: Partial<SamplerOptions>;
  limits?: Partial<SweepLimits>;
  dutyShare?: number;
  mode?: 'sweep' | 'held';
  by?: 'script' | 'commands' | 'fallback';
}

/** A schedule that never ticks by itself. */
const byHand = (): Schedule => ({ msToNext: () => 1000, stop() {} });
const LIMITS: SweepLimits = { deadlineMs: 10_000, maxKeys: 250_000 };

/** Connects to the server on the port. */
export function connectNode(port: number, options: TestSamplerOptions = {}, name = 'only'): NodeParts {
  const clock = systemClock();
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
  const scripts = loadLockScripts();
  const node = createNode(name, redis, scripts, clock, options.connection?.db ?? 0);
  const { by = 'script' } = options;
  if (by === 'script') return { ...node, step: createScriptStep(redis, scripts, clock) };
  return by === 'commands' ? { ...node, step: createCommandStep(redis, clock) } : node;
}

/** Makes a sampler for the server on the port; `start()` it, or only `tick()`. */
export function makeSampler(port: number, options: TestSamplerOptions = {}): TestSampler {
  return sampleDeployment(singleServer(connectNode(port, options)), options);
}

/** Makes a sampler for a deployment, which is closed with it. */
export function sampleDeployment(deployment: Deployment, options: TestSamplerOptions = {}): TestSampler {
  const { keyPrefixes = ['lock:'], dutyShare = 1, mode = 'sweep' } = options;
  const clock = systemClock();
  const records = new RecordedSamples();
  const faults: unknown[] = [];
  const reportFault = (error: unknown) => faults.push(error);
  const heldKeys = new HeldKeys('test');
  const classify = createResourceClassifier([], keyPrefixes);
  const view = new KeyspaceView((key) => heldKeys.resourceOf(key) ?? classify(key));
  const heldLooked = records.heldLooked.bind(records);
  const looks = { store: 'test', deployment, view, heldKeys, dutyShare, clock, heldLooked };
  const limits = { ...LIMITS, ...options.limits };
  const stopping = () => sampler.state().status === 'stopped';
  const source =
    mode === 'held'
      ? new HeldSource(looks)
      : new KeyspaceSource({ ...looks, lockKeys: lockKeys(keyPrefixes), limits, stopping });
  const sampler = createSampler({
    store: 'test',
    source,
    onReady: (callback) => deployment.onReady(callback),
    schedule: byHand,
    deadlineMs: limits.deadlineMs,
    clock,
    port: records,
    reportFault,
    ...options.sampler,
  });
  const watch = new HeldWatch({ ...looks, schedule: byHand, port: records, reportFault });
  const keys = () => [...sampler.locks()].map(({ key }) => key.toString()).sort();
  const stop = async () => {
    await watch.stop();
    await sampler.stop();
    deployment.close();
  };
  return { sampler, watch, heldKeys, records, faults, keys, stop };
}
