// Everything inside of words that runs or evaluates: substitutions are walked as the subshells that
// they are, parameter expansions and arithmetic are checked for what they would evaluate.

import {
  forEachChild,
  type ParameterExpansionPart,
  type SyntaxNode,
  type TestExpression,
  type Word,
} from '../../text/shell-tree.ts';
import { arithmetic, countingIn } from './arithmetic.ts';
import { atomsOf } from './atoms.ts';
import { expandAtoms } from './braces.ts';
import { checkEvaluated } from './ends.ts';
import { quotedText } from './resolve.ts';
import { type Place, type Run, spanIn, type Walker } from './run.ts';
import type { State } from './state.ts';

const EVALUATES = /^-(?:eq|ne|lt|le|gt|ge)$/;
const NAMED = /^[A-Za-z_]\w*(?:\[(?:\d+|[@*])\])?$/;

/** A person stops at three. */
export const NESTING_MAX = 48;

export class Visitor {
  readonly #walker: Walker;
  readonly #place: Place;
  readonly #state: State;
  /** Names that the expansions assigned: `${x:=1}`, `$((x++))`. */
  readonly assigned: { readonly name: string; readonly number: boolean }[] = [];

  constructor(walker: Walker, place: Place, state: State) {
    this.#walker = walker;
    this.#place = place;
    this.#state = state;
  }

  get #run(): Run {
    return this.#walker.run;
  }

  /** `patterns`: extended patterns are fine, as on the right of `[[ a == @(b) ]]`. */
  visit(node: SyntaxNode, patterns = false): void {
    this.#run.unseen.delete(node);
    switch (node.type) {
      case 'CommandExpansion':
      case 'ArithmeticCommandExpansion':
      case 'ProcessSubstitution':
        this.#substitution(node);
        return;
      case 'ParameterExpansion':
        this.#parameter(node);
        break;
      case 'ArithmeticExpansion': {
        const bracket = node.text.startsWith('$[');
        const inside = bracket ? [2, 1] : [3, 2];
        this.arithmetic(node.pos + (inside[0] ?? 0), node.end - (inside[1] ?? 0), node);
        break;
      }
      case 'ExtendedGlob':
        if (!patterns) this.#problem('syntax_option', node, 'an extended pattern needs `extglob`');
        break;
      case 'SingleQuoted':
      case 'AnsiCQuoted':
      case 'Literal':
        // What is `$(` behind its quotes would run if something evaluated it.
        if (/\$\(|`/.test(node.value) || /[$`]/.test(node.text.replace(/^\$/, ''))) {
          this.#run.latentCode ||= /\$\(|\$\{|`|\$\[/.test(node.value);
        }
        return;
    }
    forEachChild(node, (child) => this.visit(child, patterns));
  }

  #problem(code: Parameters<Run['problem']>[0], node: SyntaxNode, message: string): void {
    this.#run.problem(code, spanIn(this.#place.frame, node), message);
  }

  #substitution(
    node: Extract<
      SyntaxNode,
      { type: 'CommandExpansion' | 'ArithmeticCommandExpansion' | 'ProcessSubstitution' }
    >,
  ): void {
    const { script } = node;
    const place = this.#place;
    if (script === undefined || place.nesting >= NESTING_MAX) {
      this.#problem('too_deep', node, 'a substitution is nested too deeply');
      return;
    }
    if (node.type === 'ProcessSubstitution') {
      this.#checkGlue(node);
      if (script.commands.length === 0) {
        this.#problem('process_substitution', node, 'a process substitution is empty');
      }
    }
    const decoded = script.source;
    const simple = node.type === 'CommandExpansion' && quotedText(node) !== undefined;
    const feeds = node.type === 'ProcessSubstitution' && node.operator === '>';
    this.#walker.script(
      script,
      {
        ...place,
        frame:
          decoded === undefined ? place.frame : { ...place.frame, source: decoded, inPlace: false },
        stdin: feeds ? 'pipe' : place.stdin,
        nesting: place.nesting + 1,
        substituted: simple ? 'text' : 'code',
      },
      this.#state.copy(),
    );
  }

  /** Bash takes `a<(x)` for one word, the parser for two. */
  #checkGlue({ pos, end, ...node }: Extract<SyntaxNode, { type: 'ProcessSubstitution' }>): void {
    const { source } = this.#place.frame;
    const before = source.slice(Math.max(0, pos - 2), pos);
    const apart = /^$|(?<!\\)[ \t\n;&|(]$/.test(before) && /[ \t\n;&|)]|^$/.test(source[end] ?? '');
    if (apart) return;
    const message = 'a process substitution is glued to a word';
    this.#problem('process_substitution', { ...node, pos, end }, message);
  }

  #parameter(node: ParameterExpansionPart): void {
    const { operation, parameter } = node;
    // `${!list[@]}` are the keys of an array.
    const keys = operation === undefined && /^\$\{![A-Za-z_]\w*\[[@*]\]\}$/.test(node.text);
    if (node.prefix === '!' && !keys) {
      this.#problem('indirection', node, 'an indirect expansion names a variable by another one');
    }
    if (node.index !== undefined) this.subscript(node.index);
    switch (operation?.type) {
      case 'Transform':
        this.#problem(
          'transformation',
          node,
          'a transformation can evaluate what the variable says',
        );
        break;
      case 'Names':
      case 'Unknown':
        this.#problem('indirection', node, 'an expansion is of a form that is not known');
        break;
      case 'Slice':
        this.#arithmeticWord(operation.offset);
        if (operation.length !== undefined) this.#arithmeticWord(operation.length);
        if (/^\s*-|\$/.test(operation.length?.text ?? '')) this.#run.discards = true;
        break;
      case 'Default':
        if (operation.operator.endsWith('=')) this.assign(parameter, false);
        break;
    }
  }

  assign(name: string, number: boolean): void {
    this.#run.assigned.add(name);
    checkEvaluated(this.#run, name, number ? 'number' : undefined);
    this.#state.set(name, number && !this.#run.untrusted.has(name) ? 'number' : undefined);
    this.assigned.push({ name, number });
  }

  /** Bash replaces braces in the text, before it looks for substitutions. */
  braces(word: Word): void {
    const atoms = atomsOf(this.#place.frame.source, word);
    if (atoms !== undefined && expandAtoms(atoms, this.#run) !== undefined) return;
    this.#problem('too_many', word, 'what its braces make cannot be told');
  }

  /** Of `${y:x=1}` it is not evaluated where `y` is not set. */
  #arithmeticWord(word: Word): void {
    this.arithmetic(word.pos, word.end, word, false);
  }

  /** The subscript of an array: `@`, `*` or a number. */
  subscript(word: Word): void {
    if (!/^\s*[@*]\s*$/.test(word.text)) this.#arithmeticWord(word);
  }

  /** `[[ ... ]]`: `-eq` and its like evaluate both sides, `-v` evaluates a subscript. */
  test(node: TestExpression): void {
    switch (node.type) {
      case 'TestBinary':
        if (!EVALUATES.test(node.operator)) break;
        for (const side of [node.left, node.right]) this.arithmetic(side.pos, side.end, side);
        break;
      case 'TestUnary':
        if (/^-[vR]$/.test(node.operator) && !NAMED.test(node.operand.text)) {
          this.#problem('subscript', node, '`-v` would evaluate a subscript');
        }
        break;
      case 'TestLogical':
        for (const operand of node.operands) this.test(operand);
        break;
      case 'TestNot':
        this.test(node.operand);
        break;
      case 'TestGroup':
        this.test(node.expression);
        break;
    }
  }

  /** From here to there in the text stands an expression; `node` has its parts. */
  arithmetic(from: number, to: number, node: SyntaxNode, sure = true): void {
    const text = this.#place.frame.source.slice(from, to);
    const skip = countingIn([node], from, this.#run);
    const found = arithmetic(text, this.#state, this.#run, skip);
    if (mayFail(text)) this.#run.discards = true;
    if (found.plain) for (const name of found.names) this.assign(name, sure);
    else this.#problem('arithmetic', node, 'arithmetic evaluates what is not known to be a number');
  }
}

/** Division by zero, a shift or an exponent below it, a number that is none. */
function mayFail(text: string): boolean {
  const rest = text.replace(/[/%]\s*[1-9]/g, '+1').replace(/\b\s*(?:\+\+|--)|"/g, '');
  return (
    !/^[\w\s$=<>+*!&|?:(){}#"-]*$/.test(rest) || /<<|>>|\*\*|\b0\d|\w\s+\w|[^)\w\s}]\s*$/.test(rest)
  );
}
