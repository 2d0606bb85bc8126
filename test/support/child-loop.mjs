import { createInterface } from 'node:readline';

/** Tells the parent about something: one line of JSON on standard output. */
export function tell(event, fields = {}) {
  process.stdout.write(`${JSON.stringify({ event, ...fields })}\n`);
}

/** Keeps the event loop busy for `ms`, as a long computation or a garbage collection would. */
function busy({ ms }) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/**
 * Takes commands, lines of JSON `{id, op, …}`, from standard input and hands each to the operation of that name
 * at once, without waiting for earlier ones. Answers `{event: 'reply', id, ok: true, …result}` or `{event:
 * 'reply', id, ok: false, error: {id, name, message}}`. Every child knows `busy {ms}`, `exit {code}` and `leave`, after
 * which it takes no more commands and ends when nothing is left to do. Tells `ready` when it listens; the end of the
 * input is an `exit`.
 */
export function serveCommands(operations) {
  const exit = ({ code = 0 } = {}) => process.exit(code);
  const leave = () => {
    input.off('close', exit);
    input.close();
    process.stdin.destroy();
  };
  const all = { busy, exit, leave, ...operations };
  const input = createInterface({ input: process.stdin });
  input.on('line', (line) => void answer(all, JSON.parse(line)));
  input.once('close', exit);
  tell('ready', { pid: process.pid });
}

async function answer(operations, { id, op, ...fields }) {
  try {
    const operation = operations[op];
    if (operation === undefined) throw new Error(`no operation "${op}"`);
    tell('reply', { id, ok: true, ...(await operation(fields)) });
  } catch (error) {
    tell('reply', { id, ok: false, error: { id: error.id, name: error.name, message: error.message } });
  }
}
