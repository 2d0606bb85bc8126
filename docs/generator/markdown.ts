/** A Markdown table. Pipes and line breaks within cells are made harmless. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

/** Text as code. */
export function code(text: string): string {
  return `\`${text}\``;
}

/** A page that says of itself that it is generated. */
export function page(title: string, ...parts: readonly string[]): string {
  const note = '<!-- Generated from the code by `npm run docs`; the tests compare. Do not edit. -->';
  return `${[`# ${title}`, note, ...parts].join('\n\n')}\n`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
