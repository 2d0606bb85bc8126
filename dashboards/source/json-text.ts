/** A line of a generated file is at most this long, as in the sources: the formatter of the repository agrees. */
const LINE_WIDTH = 110;

/**
 * A value as JSON text for people and diffs: objects one field a line, lists of plain values on one line where they
 * fit. Ends with a line break.
 */
export function jsonText(value: unknown): string {
  return `${render(value, '', 0)}\n`;
}

/** `used`: how much of the line is taken before the value, and by the comma after it. */
function render(value: unknown, indent: string, used: number): string {
  if (Array.isArray(value)) return renderList(value, indent, used);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  const deeper = `${indent}  `;
  const lines = fields.map(([key, field]) => {
    const head = `${deeper}${JSON.stringify(key)}: `;
    return head + render(field, deeper, head.length + 1);
  });
  return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n${indent}}`;
}

function renderList(items: readonly unknown[], indent: string, used: number): string {
  const plain = items.every((item) => typeof item !== 'object' || item === null);
  const line = `[${items.map((item) => JSON.stringify(item)).join(', ')}]`;
  if (items.length === 0 || (plain && used + line.length <= LINE_WIDTH)) return line;
  const deeper = `${indent}  `;
  const lines = items.map((item) => deeper + render(item, deeper, deeper.length + 1));
  return `[\n${lines.join(',\n')}\n${indent}]`;
}
