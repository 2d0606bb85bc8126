import type { Clock, Random } from '../contract/clock.js';
import { createResourceClassifier } from '../contract/resource.js';
import { loadLockScripts } from '../lua/scripts.js';
import type { Log } from './cli/log.js';
import { writeRedisPlace } from './config/redis-url.js';
import type { Settings } from './config/settings.js';
import { type ReadFile, redisLogin, redisServers } from './redis-settings.js';
import { clusterDeployment } from './sampler/cluster.js';
import { readShare } from './sampler/cluster-share.js';
import { connectSampler, type ServerAddress } from './sampler/connection.js';
import { cronSchedule } from './sampler/cron-schedule.js';
import { type Deployment, type NodeParts, singleServer } from './sampler/deployment.js';
import { HeldKeys } from './sampler/held-keys.js';
import { HeldSource } from './sampler/held-source.js';
import { HeldWatch } from './sampler/held-watch.js';
import { HELD_INTERVAL_MS, intervalSchedule } from './sampler/interval-schedule.js';
import { lockKeys } from './sampler/key-pattern.js';
import { KeyspaceSource } from './sampler/keyspace-source.js';
import { KeyspaceView } from './sampler/keyspace-view.js';
import { createNode } from './sampler/node.js';
import type { HeldLookPort, SamplePort } from './sampler/ports.js';
import type { SampleSource } from './sampler/sample-source.js';
import { createSampler, type Sampler, type SamplerState } from './sampler/sampler.js';
import type { SweepLimits } from './sampler/sweep.js';
import { samplingHint } from './sampling-hint.js';

/** What sampling needs of the process around it. */
export interface SamplingSurroundings {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly readFile: ReadFile;
  readonly reportFault: (error: unknown) => void;
  readonly port: SamplePort;
  readonly heldPort: HeldLookPort;
}

/** All that looks at Redis, as one thing to start and stop. */
export interface Sampling {
  readonly sampler: Sampler;
  /** Tell it of events and holds. */
  readonly heldKeys: HeldKeys;
  start(): void;
  /** Waits for the look that is under way. Never rejects. */
  stop(): Promise<void>;
  /** Ends all connections for good. May be repeated. */
  close(): void;
}

/** A sweep of more keys would delay everything else in this process; what is beyond comes with the next sweep. */
const LIMITS: SweepLimits = { deadlineMs: 10_000, maxKeys: 250_000 };

/** Builds what `--sample-mode` asks for. Begins to connect; looks at nothing before `start()`. */
export function makeSampling(settings: Settings, around: SamplingSurroundings): Sampling {
  const { clock, random, reportFault, heldPort } = around;
  const { store, keyPrefixes, resourceRules, sampleDuty } = settings;
  let lastError: string | undefined;
  const deployment = connectDeployment(settings, around, (error) => {
    lastError = describeRedisError(error);
  });
  const heldKeys = new HeldKeys(store, undefined, random() * 2 ** 32);
  const classify = createResourceClassifier(resourceRules, keyPrefixes);
  const view = new KeyspaceView((key) => heldKeys.resourceOf(key) ?? classify(key), random() * 2 ** 32);
  const heldLooked = heldPort.heldLooked.bind(heldPort);
  const looks = { store, deployment, view, heldKeys, dutyShare: sampleDuty, clock, heldLooked };
  const everyFewSeconds = intervalSchedule(HELD_INTERVAL_MS, clock, random);
  const sweeps = settings.sampleMode === 'sweep';
  const source: SampleSource = sweeps
    ? new KeyspaceSource({
        ...looks,
        lockKeys: lockKeys(keyPrefixes),
        limits: LIMITS,
        stopping: () => sampler.state().status === 'stopped',
      })
    : new HeldSource(looks);
  const sampler = createSampler({
    store,
    source,
    onReady: (callback) => deployment.onReady(callback),
    schedule: sweeps ? cronSchedule(settings.sampleSchedule, clock, random) : everyFewSeconds,
    deadlineMs: LIMITS.deadlineMs,
    clock,
    port: around.port,
    reportFault,
    onChange: (state) => logSampling(around.log, state, settings, lastError),
  });
  const watch = sweeps
    ? new HeldWatch({ ...looks, schedule: everyFewSeconds, port: around.port, reportFault })
    : undefined;
  return {
    sampler,
    heldKeys,
    start: () => {
      sampler.start();
      watch?.start();
    },
    stop: async () => {
      await Promise.all([sampler.stop(), watch?.stop()]);
    },
    close: () => deployment.close(),
  };
}

function connectDeployment(
  settings: Settings,
  around: SamplingSurroundings,
  onError: (error: Error) => void,
): Deployment {
  const { clock, random, readFile } = around;
  const login = redisLogin(settings, readFile);
  const servers = redisServers(settings, readFile);
  const scripts = loadLockScripts();
  const connect = (address: ServerAddress, name: string, readOnly = false): NodeParts => {
    const redis = connectSampler({ ...login, address, readOnly, clock, random, onError });
    return createNode(name, redis, scripts, clock, login.db);
  };
  if (servers.kind === 'cluster') {
    const { seeds, sweepReplicas } = servers;
    const connectTo = (at: { host: string; port: number }, name: string, readOnly: boolean) =>
      connect({ kind: 'tcp', ...at }, name, readOnly);
    return clusterDeployment({ seeds, sweepReplicas, connect: connectTo });
  }
  const swept = connect(servers.swept, 'swept');
  const master = servers.master === servers.swept ? swept : connect(servers.master, 'master');
  return singleServer(swept, master, readShare(swept.redis));
}

const CLUSTER_HINT =
  'name the cluster with --redis-url redis+cluster://host:port, so that every master is looked at';

/** @param error text of the last error of a connection; told only for reasons that come from one */
function logSampling(log: Log, state: SamplerState, settings: Settings, error: string | undefined): void {
  const { status, reason, last } = state;
  if (status === 'ok') {
    const facts = { keys: last?.known, truncated: last?.truncated };
    const isPart = settings.redisUrl.address.kind !== 'cluster' && last?.faults.includes('moved') === true;
    if (isPart) log.warn('sampling sees one node of a cluster only', { ...facts, hint: CLUSTER_HINT });
    else log.info('sampling works', facts);
    return;
  }
  const ofConnection = reason === 'connection' || reason === 'no_auth' || reason === 'command_timeout';
  log.warn('sampling does not work; sampled metrics are withdrawn', {
    status,
    reason,
    redis: writeRedisPlace(settings.redisUrl),
    error: ofConnection ? error : undefined,
    hint: samplingHint(reason, settings),
  });
}

/** Its first line, or its code: two refused addresses are one error without words. Errors of a connection hold no keys. */
function describeRedisError(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return error.message.split('\n')[0]?.slice(0, 200) || code;
}
