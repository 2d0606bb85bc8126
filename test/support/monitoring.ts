import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ruleFiles } from '../../alerts/source/files.js';
import { scaleRouting } from '../../alerts/source/routing.js';
import { DEFAULT_OPTIONS } from '../../alerts/source/rule.js';
import { scaleDurations, THRESHOLDS } from '../../alerts/source/thresholds.js';
import { type AlertmanagerServer, startAlertmanager } from './alertmanager-server.js';
import { type PrometheusServer, startPrometheus } from './prometheus-server.js';
import { waitFor } from './wait-for.js';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.js';

const ALERTS = new URL('../../alerts/', import.meta.url);
/** What the compose file and the README give Prometheus. */
const SCRAPE_SECONDS = 15;
/** Where the example's receivers point. */
const RECEIVERS = 'http://127.0.0.1:9095';

/** A Prometheus and an Alertmanager with the shipped files, and what Alertmanager tells. */
export interface Monitoring {
  readonly prometheus: PrometheusServer;
  readonly alertmanager: AlertmanagerServer;
  readonly webhook: WebhookReceiver;
  readonly scrapeMs: number;
  /** Resolves when Prometheus has scraped every target; it takes some seconds before it begins. */
  watching(): Promise<unknown>;
  /** `/page firing RedisLockLost orders stock`, one line for each alert of each notification so far. */
  told(): string[];
  /** Rules that failed or never ran, and why. @throws Error when there are none at all */
  unhealthyRules(): Promise<string[]>;
  stop(): Promise<void>;
}

/** Which exporters are watched, and how fast. */
export interface MonitoringOptions {
  /** `127.0.0.1:port` of each exporter. */
  readonly targets: readonly string[];
  /** Labels of every target. */
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * Divides every time: scrapes, rules, routes. 1: the shipped files, byte for byte but for the receivers' address.
   * No limit or floor changes.
   */
  readonly factor: number;
  /**
   * Time between two scrapes, which is also the time that one may take. Default: as the factor says. Longer where that is
   * too short for a busy machine, but so that three fit into the divided `bridge`.
   */
  readonly scrapeMs?: number;
  /** Seconds that an hour of the daily figures takes. Default: an hour. */
  readonly hour?: number;
}

/** Starts all three on free ports of 127.0.0.1. @throws Error when one does not get ready */
export async function startMonitoring(options: MonitoringOptions): Promise<Monitoring> {
  const ends: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const webhook = await startWebhookReceiver();
    ends.push(() => webhook.stop());
    const alertmanager = await startAlertmanager(routing(options.factor, webhook.url));
    ends.push(() => alertmanager.stop());
    const prometheus = await startPrometheus(scraping(options, alertmanager.target));
    ends.push(() => prometheus.stop());
    const scrapeMs = scrapeInterval(options);
    const watching = () =>
      waitFor(async () => (await prometheus.query('up == 1')).length === options.targets.length, {
        what: 'every target to be scraped',
        timeoutMs: 60_000,
        everyMs: 100,
      });
    return {
      ...{ prometheus, alertmanager, webhook, scrapeMs, watching, stop },
      told: () => tell(webhook),
      unhealthyRules: () => unhealthyRules(prometheus),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function scraping(options: MonitoringOptions, alertmanager: string) {
  const { targets, labels = {}, factor, hour } = options;
  const files = Object.fromEntries(
    [...ruleFiles(scaleDurations(THRESHOLDS, factor), DEFAULT_OPTIONS, hour)].map(([name, text]) => [
      name,
      factor === 1 && hour === undefined ? readShipped(name) : text,
    ]),
  );
  const interval = `${scrapeInterval(options)}ms`;
  const config = {
    global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
    rule_files: Object.keys(files),
    alerting: { alertmanagers: [{ static_configs: [{ targets: [alertmanager] }] }] },
    scrape_configs: [{ job_name: DEFAULT_OPTIONS.job, static_configs: [{ targets, labels }] }],
  };
  return { files, config };
}

function routing(factor: number, url: string): string {
  const shipped = readShipped('alertmanager.yml');
  if (!shipped.includes(RECEIVERS)) throw new Error(`alertmanager.yml has no receiver at ${RECEIVERS}`);
  const text = shipped.replaceAll(RECEIVERS, url);
  return factor === 1 ? text : scaleRouting(text, factor);
}

function readShipped(name: string): string {
  return readFileSync(fileURLToPath(new URL(name, ALERTS)), 'utf8');
}

function tell({ notifications }: WebhookReceiver): string[] {
  return notifications.flatMap(({ path, alerts }) =>
    alerts.map(({ status, labels }) => {
      const { alertname, store = labels.instance, resource } = labels;
      return [path, status, alertname, store, resource].filter(Boolean).join(' ');
    }),
  );
}

interface RulesAnswer {
  data: { groups: { rules: { name: string; health: string; lastError?: string }[] }[] };
}

async function unhealthyRules(prometheus: PrometheusServer): Promise<string[]> {
  const { data } = JSON.parse((await prometheus.get('/api/v1/rules')).body) as RulesAnswer;
  const rules = data.groups.flatMap((group) => group.rules);
  if (rules.length === 0) throw new Error('Prometheus has no rules');
  return rules
    .filter(({ health, lastError = '' }) => health !== 'ok' || lastError !== '')
    .map(({ name, health, lastError }) => `${name}: ${health} ${lastError}`);
}

function scrapeInterval({ factor, scrapeMs }: MonitoringOptions): number {
  return scrapeMs ?? Math.round((SCRAPE_SECONDS * 1000) / factor);
}
