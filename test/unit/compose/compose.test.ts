import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { spawnChild } from '../../support/processes.js';
import { requireBinary } from '../../support/require-binary.js';
import { makeTempDir } from '../../support/temp-dir.js';
import { exporterFaults, ROOT, readAsExporter, readYaml } from './yaml-files.js';

// No container engine ran these files: what can be wrong without one is checked here.

interface Service {
  image?: string;
  build?: string;
  profiles?: string[];
  user?: string;
  command?: string[];
  entrypoint?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  healthcheck?: { test?: string[]; disable?: boolean };
  depends_on?: Record<string, unknown>;
  network_mode?: string;
  networks?: { default: { aliases: string[] } };
  read_only?: boolean;
  cap_drop?: string[];
}

const [file] = readYaml('docker-compose.yml');
const compose = file as unknown as { services: Record<string, Service>; volumes: Record<string, unknown> };
const services = Object.entries(compose.services);
const mounts = services.flatMap(([, { volumes = [] }]) =>
  volumes.map((text) => text.split(':')).filter(([source]) => source?.startsWith('./')),
);

describe('docker-compose.yml', () => {
  it('has what the issue asks for, in the profiles demo and own-redis', () => {
    const inProfile = (profile: string) =>
      services.filter(([, { profiles }]) => profiles?.includes(profile)).map(([name]) => name);
    const always = ['prometheus', 'alertmanager', 'grafana'];
    expect(inProfile('demo')).toEqual(['redis', 'exporter-demo', 'demo', 'demo-2', ...always]);
    expect(inProfile('own-redis')).toEqual(['exporter-own-redis', ...always]);
  });

  it.each(services)(
    '%s: a pinned image, a user without rights, a read-only root, a health check',
    (name, service) => {
      expect(service.build === '.' || /:[a-z]*\d+\.\d+\.\d+|:local$/.test(service.image ?? '')).toBe(true);
      expect(service.read_only).toBe(true);
      expect(service.cap_drop).toEqual(['ALL']);
      const ownImage = service.image === 'redis-lock-exporter:local';
      expect(ownImage || /^[1-9]\d*:\d+$/.test(service.user ?? '')).toBe(true);
      // Ours has its check in the image.
      expect(ownImage || (service.healthcheck?.test?.length ?? 0) > 1, name).toBe(true);
    },
  );

  it('publishes nothing beyond loopback', () => {
    const ports = services.flatMap(([, { ports: own = [] }]) => own);
    expect(ports.length).toBeGreaterThan(3);
    expect(ports.filter((port) => !/^127\.0\.0\.1:(\d+):\1$/.test(port))).toEqual([]);
  });

  it('mounts only what there is', () => {
    expect(mounts.length).toBeGreaterThan(6);
    expect(mounts.filter(([source = '']) => !existsSync(join(ROOT, source)))).toEqual([]);
    const named = services.flatMap(([, { volumes = [] }]) =>
      volumes.filter((text) => !text.startsWith('./')),
    );
    expect(named.map((text) => text.split(':')[0])).toEqual(Object.keys(compose.volumes));
  });

  it.each(
    services.filter(([, { image, entrypoint }]) => image === 'redis-lock-exporter:local' && !entrypoint),
  )(
    '%s: the exporter takes its flags and variables, and listens where the others look',
    (_, { command = [], environment = {}, ports = [] }) => {
      const env = Object.fromEntries(
        Object.entries(environment).map(([name, value]) => [name, value.replace(/^\$\{\w+:-(.*)\}$/, '$1')]),
      );
      expect(exporterFaults(command, env)).toEqual([]);
      const reading = readAsExporter(command, env);
      const { metricsListen, localListen } = reading.ok ? reading.config.settings : expect.fail();
      expect(metricsListen).toMatchObject({ host: '0.0.0.0', port: 9722 });
      expect(ports).toEqual(['127.0.0.1:9722:9722']);
      expect(localListen).toMatchObject({ host: '127.0.0.1', port: 9723 });
    },
  );

  it('the demo’s workers are in the image, read these variables, and post to where their exporter listens', () => {
    const workers = services.filter(([, { entrypoint }]) => entrypoint);
    expect(workers).toHaveLength(2);
    for (const [, { entrypoint = [], environment = {}, network_mode }] of workers) {
      const source = (entrypoint[1] ?? '').replace(/^dist\/(.*)\.js$/, '$1.ts');
      const text = readFileSync(join(ROOT, source), 'utf8');
      expect(Object.keys(environment).filter((name) => !text.includes(name))).toEqual([]);
      expect(environment.DEMO_INGEST_URL).toBe('http://127.0.0.1:9723');
      expect(network_mode).toBe('service:exporter-demo');
    }
  });

  it('names services and ports that exist', () => {
    const aliases = services.flatMap(([name, { networks }]) => [name, ...(networks?.default.aliases ?? [])]);
    const waited = services.flatMap(([, { depends_on = {} }]) => Object.keys(depends_on));
    expect(waited.filter((name) => !aliases.includes(name))).toEqual([]);
    const texts = [
      readFileSync(join(ROOT, 'deploy/compose/prometheus.yml'), 'utf8'),
      readFileSync(join(ROOT, 'dashboards/provisioning/datasources/redis-lock.yaml'), 'utf8'),
    ].join('\n');
    expect(texts).toContain("'exporter:9722'");
    expect(texts).toContain("'alertmanager:9093'");
    expect(texts).toContain('http://prometheus:9090');
    expect(aliases).toEqual(expect.arrayContaining(['exporter', 'alertmanager', 'prometheus']));
  });

  it('Grafana finds its dashboards where the provider looks', () => {
    const [provider] = readYaml('dashboards/provisioning/dashboards/redis-lock.yaml');
    const { path } = (provider as unknown as { providers: [{ options: { path: string } }] }).providers[0]
      .options;
    expect(mounts.find(([source]) => source === './dashboards/generated')?.[1]).toBe(path);
  });

  it('promtool and amtool accept the files as they are mounted', async () => {
    const dir = makeTempDir('compose');
    const place = (target: string) => join(dir.path, target);
    for (const [source = '', target = ''] of mounts) {
      if (!/\.yml$/.test(source)) continue;
      mkdirSync(dirname(place(target)), { recursive: true });
      const text = readFileSync(join(ROOT, source), 'utf8').replaceAll(
        '/etc/prometheus/rules',
        place('/etc/prometheus/rules'),
      );
      writeFileSync(place(target), text);
    }
    const run = async (program: string, ...args: string[]) => {
      const child = await spawnChild(
        requireBinary(program, program === 'amtool' ? 'prometheus-alertmanager' : 'prometheus'),
        { args },
      );
      const { code } = await child.exited;
      return `${code} ${child.stdout.text()}${child.stderr.text()}`;
    };
    expect(await run('promtool', 'check', 'config', place('/etc/prometheus/prometheus.yml'))).toMatch(
      /^0 [\s\S]*SUCCESS: 3 rule files found/,
    );
    expect(await run('amtool', 'check-config', place('/etc/alertmanager/alertmanager.yml'))).toMatch(/^0 /);
    dir.remove();
  });
});

describe('the Dockerfile', () => {
  const lines = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').split('\n');

  it('has pinned stages, a user by number, a health check, and starts what the build makes', () => {
    const stages = lines.filter((line) => line.startsWith('FROM'));
    expect(stages).toHaveLength(2);
    for (const stage of stages) expect(stage).toMatch(/node:\d+\.\d+\.\d+-[a-z-]+/);
    expect(lines.find((line) => line.startsWith('USER'))).toMatch(/^USER [1-9]\d*:[1-9]\d*$/);
    expect(lines.some((line) => line.startsWith('HEALTHCHECK'))).toBe(true);
    expect(lines.find((line) => line.startsWith('ENTRYPOINT'))).toContain('dist/exporter/cli/bin.js');
    expect(existsSync(join(ROOT, 'exporter/cli/bin.ts'))).toBe(true);
  });

  it('copies what there is, and the build’s sources are not ignored', () => {
    const copied = lines
      .filter((line) => /^COPY (?!--from)/.test(line))
      .flatMap((line) => line.split(' ').slice(1, -1));
    expect(copied.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
    const { include } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.build.json'), 'utf8'));
    for (const folder of [...include, 'scripts', 'tsconfig.json']) expect(ignored).not.toContain(folder);
  });
});
