/** How a script is called and read, as far as the gate compares it. */
export interface Binding {
  /** Names of ARGV in the order in which the binding sends them. */
  args: readonly string[];
  /** KEYS sent at most. */
  keys: number;
  /** Status words that the decoder knows. */
  words: readonly string[];
  /** Reads a reply made after the header's line; throws when it cannot. Not called for an array. */
  decode(reply: string): { word: string };
}

const READS = ['GET', 'GETRANGE', 'PTTL', 'SCAN', 'TIME', 'TYPE'];
const WRITES = ['DEL', 'PEXPIRE', 'SET'];

interface Entry {
  index: number;
  name: string;
  text: string;
}

/** Compares a script's header with its body and with its binding, both ways. Each fault is one sentence. */
export function findFaults(source: string, binding: Binding): string[] {
  const header = source
    .split('\n')
    .filter((line) => line.startsWith('-- '))
    .join('\n');
  const body = source.replace(/--[^\n]*/g, '');
  return [
    ...checkFirstLine(source),
    ...checkArguments('KEYS', header, body),
    ...checkArguments('ARGV', header, body),
    ...checkRanges(header),
    ...checkWords(header, body, binding),
    ...checkReplyLines(header, binding),
    ...checkCommands(header, body),
    ...checkOrder(body),
    ...checkBinding(header, binding),
  ];
}

function checkFirstLine(source: string): string[] {
  if (source.startsWith('#!')) return ['it has a shebang'];
  return /^-- [A-Z].*\n/.test(source) ? [] : ['it has no purpose line'];
}

function documented(kind: 'KEYS' | 'ARGV', header: string): Entry[] {
  const lines = header.matchAll(new RegExp(`^-- ${kind}\\[(\\d+)\\] (\\w+): (.+)$`, 'gm'));
  return [...lines].map(([, index, name = '', text = '']) => ({ index: Number(index), name, text }));
}

function checkArguments(kind: 'KEYS' | 'ARGV', header: string, body: string): string[] {
  const inHeader = documented(kind, header).map(({ index }) => `${kind}[${index}]`);
  const inBody = [...body.matchAll(new RegExp(`\\b${kind}\\[\\d+\\]`, 'g'))].map(([use]) => use);
  return differences(inHeader, inBody, 'is documented but not used', 'is used but not documented');
}

function checkRanges(header: string): string[] {
  return documented('ARGV', header)
    .filter(({ name, text }) => /(Ms|Bytes|^count)$/.test(name) && !/integer, \d+ to \d+/.test(text))
    .map(({ name }) => `${name} has no range`);
}

function replyLines(header: string): string[] {
  return [...header.matchAll(/^-- REPLY (.+?): /gm)].map(([, line = '']) => line);
}

function firstWord(line: string): string {
  return line.split(' ')[0] ?? '';
}

function checkWords(header: string, body: string, binding: Binding): string[] {
  const inHeader = replyLines(header).map(firstWord);
  const inBody = [...body.matchAll(/return\s+\{?\s*'([a-z_]+)[ ']/g)].map(([, word = '']) => word);
  return [
    ...differences(inHeader, inBody, 'is a reply in the header only', 'is a reply that the header lacks'),
    ...differences(
      inHeader,
      [...binding.words, 'bad_argument'],
      'is not decoded',
      'is decoded but not in the header',
    ),
  ];
}

/** The number of fields in the header's lines is the one that the decoder takes, with and without optional fields. */
function checkReplyLines(header: string, binding: Binding): string[] {
  const oneString = replyLines(header).filter((line) => !/^(sampled|looked|bad_argument) /.test(line));
  return oneString
    .flatMap((line) => [fill(line, '17'), fill(line, '-')])
    .filter((reply) => !isDecoded(reply, binding))
    .map((reply) => `the decoder cannot read "${reply}"`);
}

function fill(line: string, optional: string): string {
  return line
    .replaceAll(/<(\w+)\|-+>/g, optional)
    .replaceAll(/<(lock)(\|fence)?>/g, '$1')
    .replaceAll(/<\w+>/g, '17');
}

function isDecoded(reply: string, binding: Binding): boolean {
  try {
    return binding.decode(reply).word === firstWord(reply);
  } catch {
    return false;
  }
}

function commands(body: string): { command: string; at: number }[] {
  return [...body.matchAll(/\b(?:call|pcall|try)\(\s*'([A-Z]+)'/g)].map((match) => ({
    command: match[1] ?? '',
    at: match.index,
  }));
}

function checkCommands(header: string, body: string): string[] {
  const used = commands(body).map(({ command }) => command);
  const unknown = used.filter((command) => ![...READS, ...WRITES].includes(command));
  const says = /^-- WRITES (yes|no)$/m.exec(header)?.[1];
  const writes = used.some((command) => WRITES.includes(command)) ? 'yes' : 'no';
  return [
    ...unknown.map((command) => `the gate does not know ${command}`),
    ...(says === writes ? [] : [`the header says WRITES ${says}, the body says ${writes}`]),
  ];
}

/** Reads are found where they stand and where a local function that reads is called. */
function checkOrder(body: string): string[] {
  const direct = commands(body);
  const functions = [...body.matchAll(/^local function (\w+)\([\s\S]*?^end$/gm)];
  const readers = functions.filter(([text]) => commands(text).some(({ command }) => READS.includes(command)));
  const calls = readers.flatMap(([, name]) => [...body.matchAll(new RegExp(`\\b${name}\\(`, 'g'))]);
  const reads = direct.filter(({ command }) => READS.includes(command)).map(({ at }) => at);
  const lastRead = Math.max(...reads, ...calls.map(({ index }) => index));
  const firstWrite = Math.min(
    ...direct.filter(({ command }) => WRITES.includes(command)).map(({ at }) => at),
  );
  return firstWrite < lastRead ? ['it writes before its last read'] : [];
}

function checkBinding(header: string, binding: Binding): string[] {
  const args = documented('ARGV', header).map(({ index, name }) => `${index} ${name}`);
  const sent = binding.args.map((name, at) => `${at + 1} ${name}`);
  const keys = documented('KEYS', header).length;
  return [
    ...(args.join() === sent.join()
      ? []
      : [`the binding sends ARGV ${sent.join(', ')}, the header has ${args.join(', ')}`]),
    ...(keys === binding.keys ? [] : [`the binding sends ${binding.keys} KEYS, the header has ${keys}`]),
  ];
}

function differences(
  left: readonly string[],
  right: readonly string[],
  onlyLeft: string,
  onlyRight: string,
): string[] {
  const missing = (from: readonly string[], to: readonly string[], fault: string) =>
    [...new Set(from)].filter((item) => !to.includes(item)).map((item) => `${item} ${fault}`);
  return [...missing(left, right, onlyLeft), ...missing(right, left, onlyRight)];
}
