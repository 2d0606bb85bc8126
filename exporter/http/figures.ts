/** A microsecond, for times in milliseconds. */
const MS_DECIMALS = 3;
/** Ratios, and whatever else is no whole number. */
const DECIMALS = 4;

/** A copy of what an answer shows, with figures that people can read: as worked out they have sixteen digits. */
export function roundFigures(value: unknown, name = ''): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? value : round(value, name);
  if (Array.isArray(value)) return value.map((item) => roundFigures(item, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, roundFigures(item, key)]));
}

function round(value: number, name: string): number {
  return Number(value.toFixed(name.endsWith('Ms') ? MS_DECIMALS : DECIMALS));
}
