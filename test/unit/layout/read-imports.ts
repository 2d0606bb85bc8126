import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';

/** One import, export-from or dynamic import of a source file. */
export interface ImportLine {
  /** Path of the importing file, relative to the root of the package. */
  from: string;
  /** Relative path of the imported source file, or the name of a package. */
  to: string;
  typeOnly: boolean;
}

/** Paths of all TypeScript files under those of the folders that exist, relative to `root`. */
export function listSources(root: string, folders: readonly string[]): string[] {
  const present = folders.filter((folder) => existsSync(join(root, folder)));
  return present.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.includes('node_modules'))
      .map((file) => join(folder, file)),
  );
}

/** Every import of `file`, from its syntax tree. */
export function readImports(file: string, text: string): ImportLine[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: ImportLine[] = [];
  const visit = (node: ts.Node): void => {
    const line = importOf(node);
    if (line) found.push({ from: file, to: resolveSpecifier(file, line.specifier), typeOnly: line.typeOnly });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** {@link readImports} for files on disk. */
export function readAllImports(root: string, files: readonly string[]): ImportLine[] {
  return files.flatMap((file) => readImports(file, readFileSync(join(root, file), 'utf8')));
}

function importOf(node: ts.Node): { specifier: string; typeOnly: boolean } | undefined {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    return { specifier: node.moduleSpecifier.text, typeOnly: node.importClause?.isTypeOnly ?? false };
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
    return { specifier: node.moduleSpecifier.text, typeOnly: node.isTypeOnly };
  }
  const [argument] = ts.isCallExpression(node) ? node.arguments : [];
  const dynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
  if (dynamic && argument && ts.isStringLiteral(argument))
    return { specifier: argument.text, typeOnly: false };
  return undefined;
}

function resolveSpecifier(file: string, specifier: string): string {
  if (specifier.startsWith('.')) return normalize(join(dirname(file), specifier)).replace(/\.js$/, '.ts');
  if (specifier.startsWith('node:')) return specifier;
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? specifier);
}

/** Cycles among imports that exist at run time, each as the list of files it runs through. */
export function findCycles(lines: readonly ImportLine[]): string[][] {
  const next = new Map<string, string[]>();
  for (const line of lines)
    if (!line.typeOnly) next.set(line.from, [...(next.get(line.from) ?? []), line.to]);
  const done = new Set<string>();
  const cycles: string[][] = [];
  const walk = (file: string, path: readonly string[]): void => {
    const at = path.indexOf(file);
    if (at >= 0) cycles.push([...path.slice(at), file]);
    if (at >= 0 || done.has(file)) return;
    for (const target of next.get(file) ?? []) walk(target, [...path, file]);
    done.add(file);
  };
  for (const file of next.keys()) walk(file, []);
  return cycles;
}
