import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** One option, as its doc comment tells it. */
export interface DocumentedOption {
  readonly name: string;
  /** What follows "Default" in its comment; `required`; or undefined when it has none. */
  readonly byDefault: string | undefined;
}

/** The options of an interface, its own only, in their order. */
export function readOptions(path: string, interfaceName: string): DocumentedOption[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ESNext, true);
  const found = source.statements.find(
    (statement): statement is ts.InterfaceDeclaration =>
      ts.isInterfaceDeclaration(statement) && statement.name.text === interfaceName,
  );
  if (found === undefined) throw new Error(`${path} has no interface ${interfaceName}`);
  return found.members.filter(ts.isPropertySignature).map((member) => ({
    name: member.name.getText(source),
    byDefault: defaultOf(commentOf(member), member.questionToken === undefined),
  }));
}

function commentOf(member: ts.PropertySignature): string {
  const parts = ts.getJSDocCommentsAndTags(member).map((node) => node.getText());
  return parts
    .join(' ')
    .replaceAll(/^\s*\/?\*+\/?|\*\/$/gm, ' ')
    .replaceAll(/\s+/g, ' ');
}

function defaultOf(comment: string, isRequired: boolean): string | undefined {
  if (isRequired || /(^|[.\s])Required\b/.test(comment)) return 'required';
  return /\bDefault:? (.+?)(?=[.;:,]?\s*$|[.;:,] )/.exec(comment)?.[1];
}

/** The rows of each option table of a page, by its heading: name and default of each option. */
export function readTables(markdown: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const tables = new Map<string, Map<string, string>>();
  let table: Map<string, string> | undefined;
  for (const line of markdown.split('\n')) {
    const heading = /^#+ (.+)$/.exec(line)?.[1];
    if (heading !== undefined) {
      table = new Map();
      tables.set(heading, table);
    }
    const row = /^\| *`(\w+)` *\| ([^|]+) \|/.exec(line);
    if (row?.[1] !== undefined && row[2] !== undefined) table?.set(row[1], row[2].trim());
  }
  return tables;
}
