import type { ImportLine } from './read-imports.js';

/** What one room may import. */
interface Room {
  /** Path prefix of the room's files. The first room whose prefix fits is a file's room. */
  path: string;
  /** Rooms of ours, besides itself. */
  rooms: readonly string[];
  /** Packages. Node's own modules are allowed unless `pure` is set. */
  packages: readonly string[];
  /** Packages of which only types may be imported. */
  types?: readonly string[];
  /** No module of Node's either: nothing that reads a clock or does I/O. */
  pure?: boolean;
}

/** The table of the design's section 3, with what docs/adr/0001 adds to it. */
export const ROOMS: readonly Room[] = [
  { path: 'contract/', rooms: [], packages: ['zod'] },
  { path: 'lua/', rooms: ['contract/'], packages: [] },
  { path: 'client/connection.ts', rooms: ['contract/', 'lua/', 'client/'], packages: ['ioredis'] },
  {
    path: 'client/',
    rooms: ['contract/', 'lua/', 'client/connection.ts'],
    packages: [],
    types: ['ioredis'],
  },
  { path: 'exporter/ledger/', rooms: ['contract/'], packages: [], pure: true },
  {
    path: 'exporter/ingest/',
    rooms: ['contract/', 'exporter/ledger/', 'exporter/metrics/'],
    packages: ['zod'],
  },
  { path: 'exporter/sampler/', rooms: ['contract/', 'lua/'], packages: ['ioredis', 'node-cron'] },
  { path: 'exporter/metrics/', rooms: ['contract/'], packages: ['prom-client'] },
  { path: 'exporter/http/', rooms: ['contract/'], packages: ['express'] },
  { path: 'exporter/web/', rooms: ['contract/'], packages: ['express'] },
  { path: 'exporter/config/', rooms: ['contract/'], packages: ['yaml', 'fastest-levenshtein'] },
  { path: 'exporter/cli/bin.ts', rooms: ['exporter/program.ts'], packages: [] },
  { path: 'exporter/cli/', rooms: ['contract/', 'exporter/config/'], packages: [] },
  {
    path: 'exporter/',
    rooms: ['contract/', 'lua/', 'exporter/'],
    packages: ['ioredis', 'express', 'prom-client', 'node-cron'],
  },
  { path: 'lab/', rooms: ['contract/', 'client/', 'lua/', 'exporter/'], packages: ['ioredis'] },
  { path: 'alerts/', rooms: ['contract/', 'exporter/metrics/'], packages: ['yaml'] },
  {
    path: 'docs/',
    rooms: ['contract/', 'exporter/', 'dashboards/'],
    packages: [],
  },
  {
    path: 'dashboards/',
    rooms: ['contract/', 'exporter/metrics/'],
    packages: [],
    types: ['@grafana/schema'],
  },
];

/** What is wrong with an import, or undefined. */
export function judgeImport(line: ImportLine): string | undefined {
  const room = ROOMS.find((candidate) => line.from.startsWith(candidate.path));
  if (!room) return `${line.from}: no room of the table holds this file`;
  if (line.to.startsWith('node:')) return room.pure ? refuse(line, room) : undefined;
  if (line.to.endsWith('.ts')) return isOwnRoom(line.to, room) ? undefined : refuse(line, room);
  const allowed = room.packages.includes(line.to) || (line.typeOnly && room.types?.includes(line.to));
  return allowed ? undefined : refuse(line, room);
}

function isOwnRoom(target: string, room: Room): boolean {
  return target.startsWith(room.path) || room.rooms.some((path) => target.startsWith(path));
}

function refuse(line: ImportLine, room: Room): string {
  return `${line.from} imports ${line.to}${line.typeOnly ? ' (types)' : ''}: not allowed for ${room.path}`;
}
