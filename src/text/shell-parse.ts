// Shell text taken apart: every simple command that could run, wherever it stands (lists,
// pipelines, branches, groups, functions, substitutions), with its words as they will be. Quoted
// text, comments and the text of a here-document are never commands; a substitution inside an
// unquoted here-document is one. Nothing is expanded, and nothing is thrown: `ok` is false when a
// part was not understood; the other parts are there all the same.

import {
  type Assignment as AssignmentNode,
  type Command as CommandNode,
  cheapToParse,
  forEachChild,
  parse,
  type Statement as StatementNode,
  type SyntaxNode,
  type WordPart,
} from './shell-tree.ts';

/** UTF-16 offsets into the text: `text.slice(from, to)`. */
export type Span = { readonly from: number; readonly to: number };

type Piece =
  /** Plain text, quotes and backslashes resolved. */
  | { readonly kind: 'text'; readonly value: string }
  /** A part that the shell replaces when the command runs, as it is written. */
  | { readonly kind: 'glob' | 'tilde' | 'brace' | 'expansion'; readonly source: string };

export type Word = {
  /** As it is written. */
  readonly source: string;
  /** Undefined inside backquotes with backslashes: there the text was decoded first. */
  readonly span: Span | undefined;
  readonly pieces: readonly Piece[];
  /** The word that the program gets, if it does not depend on anything. */
  readonly literal: string | undefined;
};

export type SimpleCommand = {
  readonly span: Span | undefined;
  /** The program and its arguments; empty for assignments or redirections alone. */
  readonly words: readonly Word[];
  /** Of each redirection its target, or the text of a here-document, as it is written. */
  readonly redirections: readonly string[];
};

export type Stage =
  | { readonly kind: 'simple'; readonly command: SimpleCommand }
  | { readonly kind: 'test' } // [[ ... ]]
  | { readonly kind: 'compound' };

export type Pipeline = {
  readonly stages: readonly Stage[];
  /** The list it is in is not waited for. */
  readonly background: boolean;
};

export type ShellText = {
  /** Whether all of it was understood. */
  readonly ok: boolean;
  /** In the order in which they are written, those inside substitutions behind their command. */
  readonly commands: readonly SimpleCommand[];
  /** Those that are not inside of anything, in order. */
  readonly pipelines: readonly Pipeline[];
};

/** A person stops at three. The parser reads the text again at each level. */
const SUBSTITUTION_DEPTH_MAX = 24;

export function parseShell(text: string): ShellText {
  const taken = new ShellTextBuilder();
  try {
    if (!cheapToParse(text)) return taken.incomplete();
    const script = parse(text);
    for (const statement of script.commands) taken.top(statement);
    taken.walk(script);
  } catch {
    // The parser recurses: a text that is nested too deeply ends in a RangeError.
    return taken.incomplete();
  }
  return taken.result();
}

/** A node to look at: how deep in substitutions, and whether its offsets are those of the text. */
type Visit = { readonly node: SyntaxNode; readonly depth: number; readonly inPlace: boolean };

class ShellTextBuilder {
  readonly #commands: SimpleCommand[] = [];
  readonly #pipelines: Pipeline[] = [];
  /** One value for one command, whether reached by its pipeline or by the walk. */
  readonly #known = new Map<CommandNode, SimpleCommand>();
  #ok = true;

  result(): ShellText {
    return {
      ok: this.#ok,
      commands: this.#commands,
      pipelines: this.#pipelines,
    };
  }

  incomplete(): ShellText {
    this.#ok = false;
    return this.result();
  }

  top(statement: StatementNode): void {
    const { command } = statement;
    const members = command.type === 'AndOr' ? command.commands : [command];
    for (const member of members) {
      const nodes = member.type === 'Pipeline' ? member.commands : [member];
      const stages = nodes.map((node): Stage => {
        const inner = node.type === 'Redirected' ? node.command : node;
        if (inner.type === 'Command') return { kind: 'simple', command: this.#simple(inner, true) };
        return { kind: inner.type === 'TestCommand' ? 'test' : 'compound' };
      });
      this.#pipelines.push({ stages, background: statement.background === true });
    }
  }

  /** With a stack of its own: trees may be deeper than ours. */
  walk(root: SyntaxNode): void {
    const stack: Visit[] = [{ node: root, depth: 0, inPlace: true }];
    for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
      try {
        for (const child of this.#look(visit).reverse()) stack.push(child);
      } catch {
        this.incomplete(); // as above, in a substitution: the rest of the text is looked at
      }
    }
  }

  #look({ node, depth, inPlace }: Visit): Visit[] {
    let here = { depth, inPlace };
    switch (node.type) {
      case 'Script':
        if ((node.errors?.length ?? 0) > 0) this.#ok = false;
        here = { depth, inPlace: inPlace && node.source === undefined };
        break;
      case 'Command':
        this.#commands.push(this.#simple(node, inPlace));
        break;
      case 'CommandExpansion':
      case 'ProcessSubstitution':
      case 'ArithmeticCommandExpansion':
      case 'ArithmeticExpansion':
      case 'ParameterExpansion':
        here = { depth: depth + 1, inPlace };
        break;
    }
    if (here.depth > SUBSTITUTION_DEPTH_MAX) {
      this.#ok = false;
      return [];
    }
    const children: Visit[] = [];
    forEachChild(node, (child) => children.push({ node: child, ...here }));
    return children;
  }

  #simple(node: CommandNode, inPlace: boolean): SimpleCommand {
    const known = this.#known.get(node);
    if (known !== undefined) return known;
    const words = [...(node.name === undefined ? [] : [node.name]), ...node.args];
    const made: SimpleCommand = {
      span: spanOf(node, inPlace),
      words: words.map((word) => wordOf(word, inPlace)),
      redirections: node.redirects.map((part) =>
        part.type === 'HereDoc' ? part.body.text : (part.target?.text ?? ''),
      ),
    };
    this.#known.set(node, made);
    return made;
  }
}

function spanOf(node: { readonly pos: number; readonly end: number }, inPlace: boolean) {
  return inPlace ? { from: node.pos, to: node.end } : undefined;
}

type WordNode = Extract<SyntaxNode, { type: 'Word' }>;

/** Bash expands `make A=~/x:~/y`, builtin or not. Rare: the word is not taken apart. */
const ASSIGNED_TILDE = /^[A-Za-z_]\w*\+?=(?:~|.*:~)/s;

/** `export A=1` has an assignment among its arguments: for the program it is a word. */
function wordOf(node: WordNode | AssignmentNode, inPlace: boolean): Word {
  const pieces = ASSIGNED_TILDE.test(node.text.replaceAll('\\\n', ''))
    ? [{ kind: 'tilde', source: node.text } as const]
    : node.type === 'Word'
      ? wordPieces(node)
      : assignmentPieces(node);
  return {
    source: node.text,
    span: spanOf(node, inPlace),
    pieces,
    literal: literalOf(pieces),
  };
}

function literalOf(pieces: readonly Piece[]): string | undefined {
  let literal = '';
  for (const piece of pieces) {
    if (piece.kind !== 'text') return undefined;
    literal += piece.value;
  }
  return literal;
}

function assignmentPieces(node: AssignmentNode): readonly Piece[] {
  const { value } = node;
  if (node.index !== undefined || value.type === 'ArrayValue') {
    return [{ kind: 'expansion', source: node.text }];
  }
  const name = `${node.name}${node.append === true ? '+=' : '='}`;
  return joined([{ kind: 'text', value: name }, ...wordPieces(value)]);
}

function wordPieces(node: WordNode): readonly Piece[] {
  const parts = node.parts;
  const pieces =
    parts === undefined
      ? [{ kind: 'text', value: node.value } as const]
      : joined(parts.flatMap(partPieces));
  const [first, ...rest] = pieces;
  if (!node.text.startsWith('~') || first?.kind !== 'text') return pieces;
  const tilde = /^[^/]*/.exec(first.value)?.[0] ?? '';
  const behind = first.value.slice(tilde.length);
  const text: readonly Piece[] = behind === '' ? [] : [{ kind: 'text', value: behind }];
  return [{ kind: 'tilde', source: tilde }, ...text, ...rest];
}

function partPieces(part: WordPart): readonly Piece[] {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [{ kind: 'text', value: part.value }];
    case 'DoubleQuoted':
    case 'LocaleString':
      // An empty string is a word, too: `""`.
      return [{ kind: 'text', value: '' }, ...part.parts.flatMap(partPieces)];
    case 'Glob':
    case 'ExtendedGlob':
      return [{ kind: 'glob', source: part.text }];
    case 'BraceExpansion':
      return [{ kind: 'brace', source: part.text }];
    default:
      return [{ kind: 'expansion', source: part.text }];
  }
}

/** A word without its quotes, its expansions as they are written. */
export function textOf({ pieces }: Word): string {
  return pieces.map((piece) => (piece.kind === 'text' ? piece.value : piece.source)).join('');
}

/** Neighbouring texts become one. */
function joined(pieces: readonly Piece[]): readonly Piece[] {
  const result: Piece[] = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    if (piece.kind === 'text' && last?.kind === 'text') {
      result[result.length - 1] = { kind: 'text', value: last.value + piece.value };
    } else result.push(piece);
  }
  return result;
}
