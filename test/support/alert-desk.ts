import { expectSoundTexts } from './alert-texts.js';
import type { HeldAlert } from './alertmanager-server.js';
import type { LockSite } from './lock-site.js';
import type { Monitoring } from './monitoring.js';
import { waitFor } from './wait-for.js';
import type { NotifiedAlert } from './webhook-receiver.js';

/** Long after anything is due, unless a test knows better. */
const LATE_MS = 60_000;
const EVERY_MS = 100;

/** What Alertmanager tells, and what it holds back. Exporters are named by their store: their ports differ each time. */
export class AlertDesk {
  readonly #monitoring: Monitoring;
  readonly #stores: ReadonlyMap<string, string>;

  constructor(monitoring: Monitoring, sites: readonly LockSite[]) {
    this.#monitoring = monitoring;
    this.#stores = new Map(sites.map(({ target, store }) => [target, store]));
  }

  /** `/page firing RedisLockLost orders stock`, one line for each alert of each notification so far. */
  told(): string[] {
    const named = (line: string) =>
      line.replace(/127\.0\.0\.1:\d+$/, (target) => this.#stores.get(target) ?? target);
    return this.#monitoring.told().map(named);
  }

  /** Waits until this was told, and reads its texts. @throws Error with what was told instead */
  async tells(line: string, timeoutMs = LATE_MS): Promise<NotifiedAlert> {
    const alert = await waitFor(
      () => this.#find(line) ?? Promise.reject(new Error(`told so far: ${this.told()}`)),
      { what: line, timeoutMs, everyMs: EVERY_MS },
    );
    expectSoundTexts(alert);
    return alert;
  }

  /** Waits until Alertmanager holds this alert back because of another. */
  async mutes(by: RegExp, alertname: string, resource: string): Promise<HeldAlert> {
    const muted = ({ labels, state, inhibitedBy }: HeldAlert) =>
      labels.alertname === alertname &&
      labels.resource === resource &&
      state === 'suppressed' &&
      inhibitedBy.some((name) => by.test(name));
    const alert = await waitFor(async () => (await this.#monitoring.alertmanager.alerts()).find(muted), {
      what: `${alertname} of ${resource} to be muted by ${by}`,
      timeoutMs: LATE_MS,
      everyMs: EVERY_MS,
    });
    expectSoundTexts(alert);
    return alert;
  }

  #find(line: string): NotifiedAlert | undefined {
    const alerts = this.#monitoring.webhook.notifications.flatMap((one) => one.alerts);
    return alerts[this.told().indexOf(line)];
  }
}
