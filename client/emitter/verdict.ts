import { type Answer, answerSchema, refusalSchema } from '../../contract/batch.js';
import { CONTROL_CHARACTERS } from '../../contract/text.js';

/** What came of one attempt to post a batch. */
export type PostReply =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly retryAfter?: string;
      readonly text: string;
    }
  | {
      readonly kind: 'failed';
      /** For people; never holds a token. */
      readonly text: string;
      /** A kept-alive connection turned out to be closed: the server never saw the batch, or its answer got lost. */
      readonly staleSocket: boolean;
    };

/** What that means for the batch. */
export type Verdict =
  | { readonly kind: 'done'; readonly answer: Answer }
  /** Final: sending the same again would be refused again. */
  | { readonly kind: 'refused'; readonly text: string }
  | {
      readonly kind: 'retry';
      readonly text: string;
      readonly cause: 'transient' | 'configuration' | 'stale_socket';
      readonly retryAfterMs: number;
    };

/** Faults of the set-up that heal without a new batch: the token is rotated, the address gets its exporter. */
const CONFIGURATION_STATUSES = new Set([401, 403, 404]);
const TRANSIENT_4XX = new Set([408, 429]);
/** Longest text taken over from a server. */
const MAX_QUOTE_LENGTH = 200;

/** Reads the outcome of an attempt. Pure. */
export function judge(reply: PostReply): Verdict {
  if (reply.kind === 'failed') {
    return retry(reply.text, reply.staleSocket ? 'stale_socket' : 'transient');
  }
  if (reply.status === 200) return judgeAnswer(reply.text);
  const text = `answered ${reply.status}${quoteRefusal(reply.text)}`;
  if (CONFIGURATION_STATUSES.has(reply.status)) return retry(text, 'configuration');
  const isFinal = reply.status >= 400 && reply.status < 500 && !TRANSIENT_4XX.has(reply.status);
  if (isFinal) return { kind: 'refused', text };
  return retry(text, 'transient', parseRetryAfter(reply.retryAfter));
}

/** Makes text from outside fit for one line of a log. */
export function quote(text: string): string {
  return text.replace(new RegExp(`[${CONTROL_CHARACTERS}]+`, 'g'), ' ').slice(0, MAX_QUOTE_LENGTH);
}

function judgeAnswer(text: string): Verdict {
  const answer = answerSchema.safeParse(parseJson(text));
  if (answer.success) return { kind: 'done', answer: answer.data };
  return retry('answered 200 with a body that is not an exporter’s', 'transient');
}

function quoteRefusal(text: string): string {
  const refusal = refusalSchema.safeParse(parseJson(text));
  return refusal.success ? ` (${quote(`${refusal.data.error.id}: ${refusal.data.error.message}`)})` : '';
}

/** Seconds only: a date would need the two machines' clocks to agree. */
function parseRetryAfter(header: string | undefined): number {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) * 1000 : 0;
}

function retry(
  text: string,
  cause: 'transient' | 'configuration' | 'stale_socket',
  retryAfterMs = 0,
): Verdict {
  return { kind: 'retry', text, cause, retryAfterMs };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
