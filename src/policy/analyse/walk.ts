// The tree of a script, walked in the order in which bash executes it: lists, pipelines, branches,
// loops, groups and functions. What is known is handed from command to command, and joined where
// ways meet.

import type {
  Case,
  CommandNode,
  CompoundList,
  FunctionNode,
  ParsedScript,
  Pipeline,
  Redirection,
  Statement,
  SyntaxNode,
  TestExpression,
} from '../../text/shell-tree.ts';
import type { Assigned } from '../unit.ts';
import { applyChanges, changesIn } from './changes.ts';
import { after, assignTo, type Ends, either, hintAt, joinEnds } from './ends.ts';
import { listed } from './expand.ts';
import { anchored, descriptorNames, orSkipped, redirectsOf } from './redirects.ts';
import { type Place, type Run, spanIn, type Walker } from './run.ts';
import { simpleCommand } from './simple.ts';
import { State, type Value } from './state.ts';
import { NESTING_MAX, Visitor } from './visit.ts';

export class Walk {
  readonly #walker: Walker;

  constructor(walker: Walker) {
    this.#walker = walker;
  }

  get #run(): Run {
    return this.#walker.run;
  }

  script(script: ParsedScript, place: Place, state: State): Ends {
    this.errors(script, place);
    return this.#list(script.commands, place, state);
  }

  errors(script: ParsedScript, place: Place): void {
    for (const error of script.errors ?? []) {
      const span = place.frame.inPlace ? { from: error.pos, to: error.pos } : undefined;
      this.#run.problem('parse_error', span, `it cannot be read: ${error.message}`);
    }
  }

  #list(statements: readonly Statement[], place: Place, state: State): Ends {
    let ends: Ends = either(state);
    for (const statement of statements) {
      const next = after(ends);
      if (next === undefined) state.forget(); // apparently unreachable: assume nothing
      ends = this.#statement(statement, place, next ?? state);
    }
    return ends;
  }

  #statement(node: Statement, place: Place, state: State): Ends {
    if (node.background === true) {
      this.#andOr(node.command, { ...place, nesting: place.nesting + 1 }, state.copy());
      return either(state);
    }
    return this.#andOr(node.command, place, state);
  }

  #andOr(node: Statement['command'], place: Place, state: State): Ends {
    if (node.type !== 'AndOr') return this.#pipeline(node, place, state);
    let ends: Ends = either(state);
    node.commands.forEach((member, index) => {
      const operator = node.operators[index - 1];
      if (operator === undefined) {
        ends = this.#pipeline(member, place, state);
        return;
      }
      const and = operator === '&&';
      const from = and ? ends.ok : ends.fail;
      const skipped = and ? ends.fail : ends.ok;
      const next = this.#pipeline(member, place, from?.copy() ?? lost(state));
      const real = from === undefined ? { ok: undefined, fail: undefined } : next;
      ends = and
        ? { ok: real.ok, fail: joinEnds([{ ok: real.fail, fail: real.fail }, either(skipped)]).ok }
        : { ok: joinEnds([{ ok: real.ok, fail: real.ok }, either(skipped)]).ok, fail: real.fail };
    });
    return ends;
  }

  #pipeline(node: CommandNode | Pipeline, outer: Place, state: State): Ends {
    if (node.type !== 'Pipeline') return this.#command(node, outer, state);
    const [only, ...more] = node.commands;
    const timed = node.prefixes.some(({ type }) => type === 'Time');
    const { frame } = outer;
    const place = timed ? { ...outer, frame: { ...frame, via: [...frame.via, 'time'] } } : outer;
    if (only === undefined) return either(state);
    if (more.length === 0) {
      const ends = this.#command(only, place, state);
      const negated = node.prefixes.filter(({ type }) => type === 'Negation').length % 2 === 1;
      return negated ? { ok: ends.fail, fail: ends.ok } : ends;
    }
    node.commands.forEach((command, index) => {
      const stdin = index === 0 ? place.stdin : 'pipe';
      this.#command(command, { ...place, stdin }, state.copy());
    });
    return either(state);
  }

  #command(node: CommandNode, place: Place, state: State): Ends {
    if (node.type === 'Command') return simpleCommand(this.#walker, node, place, state);
    if (place.nesting >= NESTING_MAX) {
      this.#run.problem('too_deep', spanIn(place.frame, node), 'it is nested too deeply');
      return either(state);
    }
    const inner = { ...place, nesting: place.nesting + 1 };
    switch (node.type) {
      case 'Redirected':
        return this.#redirected(node.command, node.redirects, inner, state);
      case 'Function':
        this.#function(node, inner, state);
        return either(state);
      case 'Coproc': {
        const name = node.name?.text.replaceAll('\\\n', '') ?? 'COPROC';
        if (place.substituted !== 'no') {
          const message = 'a coprocess is inside of a substitution';
          this.#run.problem('hidden_substitution', spanIn(place.frame, node), message);
        }
        if (!/^\w+$/.test(name)) {
          const message = 'the name of a coprocess is not plain';
          this.#run.problem('hidden_substitution', spanIn(place.frame, node), message);
        }
        this.#assign(name, undefined, node, place, state);
        this.#compound(node.body, { ...inner, stdin: 'pipe' }, state.copy());
        return either(state);
      }
      default:
        return this.#compound(node, inner, state);
    }
  }

  #compound(node: CommandNode | CompoundList, place: Place, state: State): Ends {
    switch (node.type) {
      case 'CompoundList':
        return this.#list(node.commands, place, state);
      case 'BraceGroup':
        return this.#list(node.body.commands, place, state);
      case 'Subshell':
        this.#checkParentheses(node, place);
        this.#list(node.body.commands, place, state.copy());
        return either(state);
      case 'If':
        return this.#if(node, place, state);
      case 'While':
        return this.#loop(node, place, state, (inside) => {
          const ends = this.#list(node.clause.commands, place, inside);
          const into = node.kind === 'while' ? ends.ok : ends.fail;
          const end = after(this.#list(node.body.commands, place, into?.copy() ?? lost(inside)));
          return [after(ends), end];
        });
      case 'For':
      case 'Select':
        return this.#for(node, place, state);
      case 'ArithmeticFor':
        return this.#arithmeticFor(node, place, state);
      case 'Case':
        return this.#case(node, place, state);
      case 'TestCommand':
        this.#test(node.expression, place, state);
        return either(state);
      case 'ArithmeticCommand': {
        const visitor = new Visitor(this.#walker, place, state);
        visitor.arithmetic(node.pos + 2, node.end - 2, node);
        if (node.expression !== undefined) visitor.visit(node.expression);
        this.#report(visitor, node, place, state);
        return either(state);
      }
      default:
        return this.#command(node, place, state);
    }
  }

  /** Bash first reads `((` as arithmetic, and then once more, but not all of it as it was. */
  #checkParentheses(node: SyntaxNode, { frame }: Place): void {
    const text = frame.source.slice(node.pos, node.end);
    if (/^\((?:\\\n)*\(/.test(text) && /<<|\$['"]/.test(text)) {
      const message = 'what is inside of two parentheses is read twice';
      this.#run.problem('hidden_substitution', spanIn(frame, node), message);
    }
  }

  /** What `((x++))` and `[[ ${x:=1} ]]` assign, and redirections, belong to no command. */
  #report(visitor: Visitor, node: SyntaxNode, place: Place, state: State): void {
    for (const { name } of visitor.assigned)
      this.#assign(name, state.value(name), node, place, state);
  }

  #assign(
    name: string,
    value: Value | undefined,
    node: SyntaxNode,
    place: Place,
    state: State,
  ): void {
    assignTo(this.#run, state, name, value);
    const span = spanIn(place.frame, node);
    const how = state.allExported || state.exported.has(name) ? 'export' : 'shell';
    const only =
      value !== undefined && value !== 'number' && value.length === 1 ? value[0] : undefined;
    this.#bare(node, place, state, [{ name, value: only, span, how }]);
  }

  /** A unit without a program. */
  #bare(node: SyntaxNode, place: Place, state: State, assigned: readonly Assigned[]): void {
    const { frame, redirects, stdin } = place;
    this.#run.unit({
      span: spanIn(frame, node),
      argv: [],
      assigned: [...assigned, ...place.assigned],
      redirects,
      cwds: state.cwds,
      stdin,
      via: frame.via,
      behind: frame.behind,
    });
  }

  #redirected(
    node: CommandNode | CompoundList,
    redirections: readonly Redirection[],
    place: Place,
    state: State,
  ): Ends {
    const run = this.#run;
    const visitor = new Visitor(this.#walker, place, state);
    for (const redirection of redirections) {
      visitor.visit(redirection);
      if (redirection.type !== 'HereDoc') continue;
      const span = spanIn(place.frame, redirection);
      if (place.substituted !== 'no') {
        run.problem('heredoc_in_substitution', span, 'a here-document is inside of a substitution');
      }
      if (redirection.closing === undefined) {
        run.problem('parse_error', span, 'a here-document does not end');
      }
    }
    this.#report(visitor, node, place, state);
    for (const name of descriptorNames(redirections)) {
      this.#assign(name, undefined, node, place, state);
    }
    const made = redirectsOf(redirections, place, { run, state, world: new Map() });
    const inner: Place = {
      ...place,
      redirects: [
        // A command inside may change the directory.
        ...(run.steady.directory ? made.redirects : anchored(made.redirects, state.cwds)),
        ...place.redirects,
      ],
      stdin: made.stdin ?? place.stdin,
    };
    const before = run.units.length;
    const skipped = state.copy();
    const ends = this.#compound(node, inner, state);
    if (run.units.length === before) this.#bare(node, inner, state, []);
    return orSkipped(ends, skipped, redirections);
  }

  #if(node: Extract<CommandNode, { type: 'If' }>, place: Place, state: State): Ends {
    const branches = [node, ...node.elif];
    const all: Ends[] = [];
    let current: State | undefined = state;
    for (const { clause, then } of branches) {
      const ends = this.#list(clause.commands, place, current ?? lost(state));
      const dead: boolean = current === undefined;
      const into = ends.ok?.copy();
      const done = this.#list(then.commands, place, into ?? lost(state));
      if (into !== undefined && !dead) all.push(done);
      current = dead ? undefined : ends.fail;
    }
    if (node.else === undefined) {
      if (current !== undefined) all.push(either(current));
    } else {
      const done = this.#list(node.else.commands, place, current ?? lost(state));
      if (current !== undefined) all.push(done);
    }
    return joinEnds(all);
  }

  #loop(
    node: CommandNode,
    place: Place,
    state: State,
    once: (inside: State) => readonly (State | undefined)[],
  ): Ends {
    const changes = changesIn(node, this.#run);
    if (
      /\b(?:readonly|declare|typeset|local)\b/.test(place.frame.source.slice(node.pos, node.end))
    ) {
      changes.everything = true;
    }
    applyChanges(changes, state);
    const ends = [state.copy(), ...once(state)].flatMap((one) => (one === undefined ? [] : [one]));
    const joined = after(joinEnds(ends.map(either))) ?? lost(state);
    applyChanges({ ...changes, directory: false }, joined);
    return either(joined);
  }

  #for(node: Extract<CommandNode, { type: 'For' | 'Select' }>, place: Place, state: State): Ends {
    const visitor = new Visitor(this.#walker, place, state);
    for (const word of node.wordlist ?? []) visitor.visit(word);
    this.#report(visitor, node, place, state);
    const run = this.#run;
    const name = node.name.text.replaceAll('\\\n', '');
    const choices = node.type === 'For' ? listed(node.wordlist, place, run, state) : undefined;
    const values = choices?.flatMap((one) => (typeof one === 'string' ? [one] : []));
    const known = values?.length === choices?.length;
    return this.#loop(node, place, state, (inside) => {
      this.#assign(name, known ? values : undefined, node.name, place, inside);
      if (!known && choices !== undefined) hintAt(run, inside, name, choices);
      return [after(this.#list(node.body.commands, place, inside))];
    });
  }

  #arithmeticFor(
    node: Extract<CommandNode, { type: 'ArithmeticFor' }>,
    place: Place,
    state: State,
  ): Ends {
    const visitor = new Visitor(this.#walker, place, state);
    const part = (expression: typeof node.initialize): void => {
      if (expression === undefined) return;
      visitor.arithmetic(expression.pos, expression.end, expression);
      visitor.visit(expression);
    };
    part(node.initialize);
    return this.#loop(node, place, state, (inside) => {
      const own = new Visitor(this.#walker, place, inside);
      for (const expression of [node.test, node.update]) {
        if (expression === undefined) continue;
        own.arithmetic(expression.pos, expression.end, expression);
        own.visit(expression);
      }
      this.#report(visitor, node, place, inside);
      return [after(this.#list(node.body.commands, place, inside))];
    });
  }

  #case(node: Case, place: Place, state: State): Ends {
    const visitor = new Visitor(this.#walker, place, state);
    visitor.visit(node.word);
    for (const item of node.items) for (const pattern of item.pattern) visitor.visit(pattern);
    this.#report(visitor, node, place, state);
    const all: Ends[] = [either(state.copy())];
    let falls: State | undefined;
    for (const item of node.items) {
      const own = state.copy();
      if (falls !== undefined) own.join(falls);
      const ends = this.#list(item.body.commands, place, own);
      all.push(ends);
      falls = item.terminator === ';&' || item.terminator === ';;&' ? after(ends) : undefined;
    }
    return joinEnds(all);
  }

  #test(expression: TestExpression, place: Place, state: State): void {
    const visitor = new Visitor(this.#walker, place, state);
    visitor.visit(expression, true);
    visitor.test(expression);
    this.#report(visitor, expression, place, state);
  }

  /** It runs when it is called: nothing is known then, but what never changes. */
  #function(node: FunctionNode, place: Place, state: State): void {
    const run = this.#run;
    run.functions.set(node.name.value, spanIn(place.frame, node.name));
    const steady = run.steady;
    const inside = new State(steady.directory ? state.cwds : undefined);
    inside.inFunction = true;
    if (steady.home) inside.set('HOME', state.value('HOME'));
    run.body(() => this.#compound(node.body, { ...place, stdin: 'inherited' }, inside));
  }
}

function lost(state: State): State {
  const copy = state.copy();
  copy.forget();
  return copy;
}
