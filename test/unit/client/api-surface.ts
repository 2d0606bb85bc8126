import ts from 'typescript';

/**
 * The public surface of each entry as text: every exported name with its declaration, as users of the package see it,
 * without comments and private members, in the order of the alphabet. One compilation for all entries.
 */
export function apiSurfaces(entries: readonly string[], configPath: string): string[] {
  const program = ts.createProgram([...entries], {
    ...readOptions(configPath),
    noEmit: false,
    declaration: true,
  });
  const declarations = emitDeclarations(program);
  return entries.map((entry) => surfaceOf(program, entry, declarations));
}

function surfaceOf(
  program: ts.Program,
  entry: string,
  declarations: ReadonlyMap<string, ts.SourceFile>,
): string {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(entry);
  const moduleSymbol = source && checker.getSymbolAtLocation(source);
  if (moduleSymbol === undefined) throw new Error(`${entry} exports nothing`);
  const parts = checker.getExportsOfModule(moduleSymbol).map((symbol) => {
    const origin = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    return { name: symbol.name, text: declarationOf(origin, declarations) };
  });
  parts.sort((a, b) => (a.name < b.name ? -1 : 1));
  return parts.map(({ name, text }) => `// ${name}\n${text}\n`).join('\n');
}

function readOptions(configPath: string): ts.CompilerOptions {
  const { config } = ts.readConfigFile(configPath, ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, '.');
  return options;
}

/** The declarations that the build would write, by the path of their source without its extension. */
function emitDeclarations(program: ts.Program): ReadonlyMap<string, ts.SourceFile> {
  const files = new Map<string, ts.SourceFile>();
  const keep: ts.WriteFileCallback = (path, text) => {
    const name = path.replace(/\.d\.ts$/, '');
    files.set(name, ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true));
  };
  program.emit(undefined, keep, undefined, true);
  return files;
}

/** All statements that declare a name: one, or each overload of a function. */
function declarationOf(symbol: ts.Symbol, files: ReadonlyMap<string, ts.SourceFile>): string {
  const source = symbol.declarations?.[0]?.getSourceFile().fileName ?? '';
  const file = files.get(source.replace(/\.ts$/, ''));
  if (file === undefined) throw new Error(`no declarations were emitted for ${symbol.name} of ${source}`);
  const printer = ts.createPrinter({ removeComments: true });
  const statements = file.statements.filter((statement) => namesOf(statement).includes(symbol.name));
  if (statements.length === 0) throw new Error(`${symbol.name} is not declared in ${file.fileName}`);
  return statements
    .map((statement) => inFixedOrder(withoutPrivate(statement), file))
    .map((statement) => printer.printNode(ts.EmitHint.Unspecified, statement, file))
    .join('\n');
}

/** The compiler writes an inferred type's members in the order in which it met them, which other files decide. */
function inFixedOrder(statement: ts.Statement, file: ts.SourceFile): ts.Statement {
  const printer = ts.createPrinter({ removeComments: true });
  const print = (node: ts.Node) => printer.printNode(ts.EmitHint.Unspecified, node, file);
  const sorted = <T extends ts.Node>(nodes: Iterable<T>) =>
    [...nodes].sort((a, b) => (print(a) < print(b) ? -1 : 1));
  const result = ts.transform(statement, [
    (context) => (root) => {
      const visit = (node: ts.Node): ts.Node => {
        const inner = ts.visitEachChild(node, visit, context);
        if (ts.isTypeLiteralNode(inner)) return ts.factory.createTypeLiteralNode(sorted(inner.members));
        if (ts.isUnionTypeNode(inner)) return ts.factory.createUnionTypeNode(sorted(inner.types));
        return inner;
      };
      return visit(root) as ts.Statement;
    },
  ]);
  return result.transformed[0] ?? statement;
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  }
  const isNamed =
    ts.isClassDeclaration(statement) ||
    ts.isFunctionDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement);
  return isNamed && statement.name ? [statement.name.text] : [];
}

/** What is private may change without anybody seeing it. */
function withoutPrivate(statement: ts.Statement): ts.Statement {
  if (!ts.isClassDeclaration(statement)) return statement;
  const { modifiers, name, typeParameters, heritageClauses, members } = statement;
  const shown = members.filter((member) => {
    const isPrivate = ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private;
    return !isPrivate && !(member.name && ts.isPrivateIdentifier(member.name));
  });
  return ts.factory.updateClassDeclaration(
    statement,
    modifiers,
    name,
    typeParameters,
    heritageClauses,
    shown,
  );
}
