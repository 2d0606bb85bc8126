import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exporterFaults, ROOT, readAsExporter, readYaml } from './yaml-files.js';

interface Container {
  name: string;
  args?: string[];
  ports?: { name: string; containerPort: number }[];
  securityContext: Record<string, unknown>;
  resources?: { requests: Record<string, string>; limits: Record<string, string> };
  volumeMounts: { name: string; mountPath: string }[];
  [probe: `${string}Probe`]: { httpGet: { path: string; port: string } };
}

function podOf(path: string) {
  const found = readYaml(path).find(({ kind }) => kind === 'Deployment') ?? expect.fail();
  const { template, replicas } = found.spec as unknown as {
    replicas: number;
    template: {
      spec: {
        securityContext: Record<string, unknown>;
        terminationGracePeriodSeconds: number;
        containers: Container[];
        initContainers?: Container[];
        volumes: { name: string }[];
      };
    };
  };
  const { containers, initContainers = [], ...pod } = template.spec;
  const all = [...initContainers, ...containers];
  const exporter = all.find(({ args }) => args !== undefined) ?? expect.fail();
  return { replicas, pod, all, exporter };
}

describe.each(['deploy/kubernetes/exporter.yaml', 'deploy/kubernetes/sidecar.yaml'])('%s', (path) => {
  const { pod, all, exporter } = podOf(path);
  const { args = [], ports = [] } = exporter;
  const reading = readAsExporter(args);

  it('the exporter takes its flags, and its ports are those it listens on', () => {
    expect(exporterFaults(args)).toEqual([]);
    const { metricsListen, localListen } = reading.ok ? reading.config.settings : expect.fail();
    const listened = [metricsListen.port, ...(localListen.kind === 'tcp' ? [localListen.port] : [])];
    expect(ports.map(({ containerPort }) => containerPort)).toEqual(listened);
  });

  it('runs as nobody in particular, on a read-only root, with probes and limits', () => {
    expect(pod.securityContext.runAsNonRoot).toBe(true);
    for (const { securityContext } of all) {
      expect(securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
    expect(exporter.resources).toMatchObject({
      requests: { memory: expect.anything() },
      limits: { memory: expect.anything() },
    });
    const probes = Object.entries(exporter).filter(([name]) => name.endsWith('Probe'));
    expect(probes.map(([, probe]) => (probe as { httpGet: { path: string } }).httpGet.path).sort()).toEqual([
      '/-/healthy',
      '/-/ready',
    ]);
  });

  it('ends later than the grace of the exporter', () => {
    const { shutdownGraceMs } = reading.ok ? reading.config.settings : expect.fail();
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(shutdownGraceMs + 2000);
  });

  it('mounts volumes that there are, and every file in a flag lies in one', () => {
    const volumes = pod.volumes.map(({ name }) => name);
    expect(
      all.flatMap(({ volumeMounts }) => volumeMounts).filter(({ name }) => !volumes.includes(name)),
    ).toEqual([]);
    const files = args.flatMap((arg) => /=(?:unix:)?(\/.+)\/[^/]+$/.exec(arg)?.[1] ?? []);
    const places = exporter.volumeMounts.map(({ mountPath }) => mountPath);
    expect(files.filter((folder) => !places.includes(folder))).toEqual([]);
  });
});

it('one exporter is one: two would each see half of the events', () => {
  expect(podOf('deploy/kubernetes/exporter.yaml').replicas).toBe(1);
});

it('in the sidecar’s pod both containers have the socket’s folder and its group', () => {
  const { pod, all, exporter } = podOf('deploy/kubernetes/sidecar.yaml');
  expect(exporter.args).toContain('--local-listen=unix:/run/redis-lock/locks.sock');
  expect(exporter.securityContext.runAsGroup).toBe(pod.securityContext.fsGroup);
  for (const { volumeMounts } of all) {
    expect(volumeMounts).toContainEqual({ name: 'socket', mountPath: '/run/redis-lock' });
  }
});

it('the systemd unit starts the exporter with flags that it takes, and is hardened', () => {
  const unit = readFileSync(join(ROOT, 'deploy/systemd/redis-lock-exporter.service'), 'utf8');
  const [, command = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
  const [program, ...args] = command.split(' ');
  expect(program).toBe('/usr/bin/redis-lock-exporter');
  expect(exporterFaults(args)).toEqual([]);
  for (const line of [
    'NoNewPrivileges=yes',
    'ProtectSystem=strict',
    'DynamicUser=yes',
    'CapabilityBoundingSet=',
  ]) {
    expect(unit).toContain(`\n${line}\n`);
  }
  expect(unit).toContain('RuntimeDirectory=redis-lock-exporter');
});
