// Reads TypeScript and JavaScript into the few facts the rules of the house need. The compiler
// itself parses, from memory, so a rule can be tried on a source that exists only in a test.
import type { CallExpression, Node, SourceFile } from 'typescript/unstable/ast';
import { SyntaxKind } from 'typescript/unstable/ast';
import {
  isCallExpression,
  isExportDeclaration,
  isFunctionLikeDeclaration,
  isIdentifier,
  isImportDeclaration,
  isImportTypeNode,
  isLiteralTypeNode,
  isPropertyAccessExpression,
  isStringLiteral,
  isVariableDeclaration,
} from 'typescript/unstable/ast/is';
import { createVirtualFileSystem } from 'typescript/unstable/fs';
import { API } from 'typescript/unstable/sync';

type FunctionFact = {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
  /** The callee this function is handed to, if any: `describe`, `it`, ... */
  readonly passedTo: string | undefined;
};

/** One argument of a call: the text of a string literal, or the source of anything else. */
type ArgumentFact =
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'call'; readonly strings: readonly string[] }
  | { readonly kind: 'other'; readonly source: string };

export type CallFact = {
  readonly callee: string;
  readonly line: number;
  readonly arguments: readonly ArgumentFact[];
};

export type SourceFacts = {
  /** Module specifiers as written, of static and dynamic imports and of re-exports. */
  readonly imports: readonly string[];
  readonly functions: readonly FunctionFact[];
  readonly calls: readonly CallFact[];
  /** Variables whose value is a call that is given strings: name to those strings. */
  readonly madeByCall: ReadonlyMap<string, readonly string[]>;
  /** Lines where `console.something` stands. */
  readonly consoleLines: readonly number[];
};

const ROOT = '/house';

/** Facts by file name. Names are relative, with `/`. */
export function readSources(files: ReadonlyMap<string, string>): Map<string, SourceFacts> {
  const checked = { noLib: true, noResolve: true, types: [], target: 'esnext' };
  const options = { ...checked, allowJs: true, jsx: 'preserve' };
  const virtual: Record<string, string> = {
    [`${ROOT}/tsconfig.json`]: JSON.stringify({ compilerOptions: options, include: ['**/*'] }),
  };
  for (const [name, source] of files) virtual[`${ROOT}/${name}`] = source;
  const api = new API({ cwd: ROOT, fs: createVirtualFileSystem(virtual) });
  try {
    const snapshot = api.updateSnapshot({ openProjects: [`${ROOT}/tsconfig.json`] });
    const program = snapshot.getProjects()[0]?.program;
    const facts = new Map<string, SourceFacts>();
    for (const name of files.keys()) {
      const source = program?.getSourceFile(`${ROOT}/${name}`);
      // A file the compiler does not see would pass every rule.
      if (source === undefined) throw new Error(`The compiler did not read ${name}.`);
      facts.set(name, factsOf(source));
    }
    return facts;
  } finally {
    api.close();
  }
}

function factsOf(source: SourceFile): SourceFacts {
  const imports: string[] = [];
  const functions: FunctionFact[] = [];
  const calls: CallFact[] = [];
  const madeByCall = new Map<string, readonly string[]>();
  const consoleLines: number[] = [];
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1;
  const startLine = (node: Node) => lineOf(node.getStart(source));

  const visit = (node: Node): void => {
    if (isImportDeclaration(node) || isExportDeclaration(node)) {
      const specifier = node.moduleSpecifier;
      if (specifier !== undefined && isStringLiteral(specifier)) imports.push(specifier.text);
    } else if (isImportTypeNode(node) && isLiteralTypeNode(node.argument)) {
      const literal = node.argument.literal;
      if (isStringLiteral(literal)) imports.push(literal.text);
    } else if (isCallExpression(node)) {
      const fact = callFact(node, source, startLine(node));
      calls.push(fact);
      const first = fact.arguments[0];
      const dynamic = node.expression.kind === SyntaxKind.ImportKeyword;
      if (dynamic && first?.kind === 'string') imports.push(first.value);
    } else if (isFunctionLikeDeclaration(node)) {
      const line = startLine(node);
      const lines = lineOf(node.end) - line + 1;
      functions.push({ name: nameOf(node), line, lines, passedTo: receiver(node, source) });
    } else if (isVariableDeclaration(node) && isIdentifier(node.name)) {
      const value = node.initializer;
      if (value !== undefined && isCallExpression(value)) {
        madeByCall.set(node.name.text, stringsIn(value));
      }
    } else if (isPropertyAccessExpression(node) && isIdentifier(node.expression)) {
      if (node.expression.text === 'console') consoleLines.push(startLine(node));
    }
    node.forEachChild((child) => {
      visit(child);
    });
  };
  visit(source);
  return { imports, functions, calls, madeByCall, consoleLines };
}

function callFact(call: CallExpression, source: SourceFile, line: number): CallFact {
  const textOf = (node: Node) => source.text.slice(node.getStart(source), node.end);
  const facts = call.arguments.map((argument): ArgumentFact => {
    if (isStringLiteral(argument)) return { kind: 'string', value: argument.text };
    if (isCallExpression(argument)) return { kind: 'call', strings: stringsIn(argument) };
    return { kind: 'other', source: textOf(argument) };
  });
  return { callee: textOf(call.expression), line, arguments: facts };
}

function stringsIn(call: CallExpression): string[] {
  return call.arguments.filter(isStringLiteral).map((argument) => argument.text);
}

function nameOf(node: Node): string {
  if ('name' in node && node.name !== undefined && isIdentifier(node.name as Node)) {
    return (node.name as { text: string }).text;
  }
  const parent = node.parent;
  if (isVariableDeclaration(parent) && isIdentifier(parent.name)) return parent.name.text;
  return 'a function';
}

function receiver(node: Node, source: SourceFile): string | undefined {
  const parent = node.parent;
  if (!isCallExpression(parent) || parent.expression === node) return undefined;
  return source.text.slice(parent.expression.getStart(source), parent.expression.end);
}
