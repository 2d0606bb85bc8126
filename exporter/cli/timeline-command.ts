import { DEFAULT_INGEST_ADDRESS } from '../../contract/batch.js';
import { DIGEST_DIGITS } from '../../contract/lock-id.js';
import { type ShownTimeline, timelineText } from './timeline-text.js';

/** A request to a running exporter's local listener. */
export interface ExporterRequest {
  /** `host:port`, `http://host:port` or `unix:/path`. */
  readonly address: string;
  readonly path: string;
  /** Posted as JSON; left out for a GET. */
  readonly body?: object;
  readonly token?: string;
}

/** Asks a running exporter. Rejects when it cannot be reached. */
export type AskExporter = (
  request: ExporterRequest,
) => Promise<{ readonly status: number; readonly text: string }>;

/** What the command works with. */
export interface TimelineTools {
  readonly ask: AskExporter;
  readonly readFile: (path: string) => string;
  readonly writeOut: (text: string) => void;
  readonly writeError: (text: string) => void;
}

/** What the command says of itself. */
export const TIMELINE_USAGE = `Usage: redis-lock-exporter timeline <key or lock id> [--exporter ADDRESS] [--token-file FILE]

Prints what a running exporter remembers of one lock: who was granted it, renewals, losses,
releases and findings, in the order of Redis's clock, and a bar for each hold. ADDRESS is its
--local-listen, default ${DEFAULT_INGEST_ADDRESS}; unix:/path works too.
`;

/** Prints a lock's timeline. @param argv what follows the word `timeline`. @returns the exit status */
export async function printTimeline(argv: readonly string[], tools: TimelineTools): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    tools.writeOut(TIMELINE_USAGE);
    return 0;
  }
  const asked = readArguments(argv);
  if (asked === undefined) {
    tools.writeError(TIMELINE_USAGE);
    return 2;
  }
  try {
    const { status, text } = await tools.ask(requestOf(asked, tools.readFile));
    if (status !== 200) return fail(tools, messageOf(text) ?? `the exporter answered with status ${status}`);
    tools.writeOut(timelineText(JSON.parse(text) as ShownTimeline));
    return 0;
  } catch (error) {
    return fail(
      tools,
      `${asked.address} cannot be asked: ${error instanceof Error ? error.message : 'no answer'}`,
    );
  }
}

interface Asked {
  readonly name: string;
  readonly address: string;
  readonly tokenFile: string | undefined;
}

function readArguments(argv: readonly string[]): Asked | undefined {
  const [name, ...rest] = argv;
  if (name === undefined || name === '' || name.startsWith('--')) return undefined;
  let address: string = DEFAULT_INGEST_ADDRESS;
  let tokenFile: string | undefined;
  for (let at = 0; at < rest.length; at += 2) {
    const [flag, value] = [rest[at], rest[at + 1]];
    if (value === undefined) return undefined;
    if (flag === '--exporter') address = value;
    else if (flag === '--token-file') tokenFile = value;
    else return undefined;
  }
  return { name, address, tokenFile };
}

/** A key that looks like a lock id is taken for one: no key prefix is hex digits only. */
function requestOf({ name, address, tokenFile }: Asked, readFile: (path: string) => string): ExporterRequest {
  const token = tokenFile === undefined ? {} : { token: readFile(tokenFile).split('\n')[0]?.trim() ?? '' };
  const isId = new RegExp(`^[0-9a-f]{${DIGEST_DIGITS}}$`).test(name);
  if (isId) return { address, path: `/api/v1/timeline?lock=${name}`, ...token };
  return { address, path: '/api/v1/timeline', body: { key: name }, ...token };
}

function messageOf(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: string } };
    return error?.message;
  } catch {
    return undefined;
  }
}

function fail(tools: TimelineTools, message: string): number {
  tools.writeError(`redis-lock-exporter timeline: ${message}\n`);
  return 1;
}
