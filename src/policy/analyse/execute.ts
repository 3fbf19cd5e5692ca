// What a command line runs: wrappers are taken off until the program itself is there, scripts on
// command lines are read, and everything that would be executed becomes a unit.

import { posix } from 'node:path';
import { shellKind } from '../../text/shells.ts';
import type { Arg, Assigned, Span, Unit, UnitRedirect } from '../unit.ts';
import { writtenText } from './args.ts';
import { builtin } from './builtins.ts';
import { type Ends, either } from './ends.ts';
import { clausesOfFd, clausesOfFind, type Finding } from './find.ts';
import { readsItself } from './input.ts';
import { behind } from './opaque.ts';
import { anchored } from './redirects.ts';
import type { Place, Stdin, Walker } from './run.ts';
import { reads, type Script, shellOf } from './shells.ts';
import { type Cwds, State, type Value } from './state.ts';
import { type Peeled, peel, programOf, splitsText, splitWords } from './wrappers.ts';

export type Draft = {
  readonly argv: readonly Arg[];
  readonly assigned: readonly Assigned[];
  readonly redirects: readonly UnitRedirect[];
  readonly cwds: Cwds;
  readonly stdin: Stdin;
  /** What its own redirections made of the input, and what that says. */
  readonly ownStdin: 'file' | 'text' | 'closed' | undefined;
  readonly input: string | undefined;
  readonly written: string | undefined;
  readonly span: Span | undefined;
};

/** A command line with as many wrappers taken off as there were. */
type Layer = Draft & {
  readonly via: readonly string[];
  readonly behind: string | undefined;
  readonly depth: number;
  /** The shell itself runs it: functions and builtins come first. */
  readonly inShell: boolean;
  /** `command` and `builtin` do not look for functions. */
  readonly noFunctions: boolean;
  /** What another process would get of the variables. */
  readonly variables: readonly (readonly [string, Value])[];
};

const DEPTH_MAX = 8;

export function execute(
  walker: Walker,
  draft: Draft,
  place: Place,
  state: State,
  prefix: readonly Assigned[],
): Ends {
  const { frame } = place;
  const layer: Layer = {
    argv: draft.argv,
    assigned: joined(draft.assigned, place.assigned),
    redirects: draft.redirects,
    cwds: draft.cwds,
    stdin: draft.stdin,
    ownStdin: draft.ownStdin,
    input: draft.input,
    written: draft.written,
    span: draft.span,
    via: frame.via,
    behind: frame.behind,
    depth: frame.depth,
    inShell: true,
    noFunctions: false,
    variables: joined(state.inherited(), known(prefix)),
  };
  return new Execution(walker, place, state, prefix).run(layer);
}

function joined<T>(a: readonly T[], b: readonly T[]): readonly T[] {
  return b.length === 0 ? a : [...a, ...b];
}

function known(list: readonly { name: string; value: string | undefined }[]): [string, Value][] {
  return list.flatMap(({ name, value }): [string, Value][] =>
    value === undefined ? [] : [[name, [value]]],
  );
}

class Execution {
  readonly #walker: Walker;
  readonly #place: Place;
  readonly #state: State;
  readonly #prefix: readonly Assigned[];

  constructor(walker: Walker, place: Place, state: State, prefix: readonly Assigned[]) {
    this.#walker = walker;
    this.#place = place;
    this.#state = state;
    this.#prefix = prefix;
  }

  run(layer: Layer): Ends {
    const { run } = this.#walker;
    const { argv, inShell } = layer;
    const [first] = argv;
    if (layer.depth > DEPTH_MAX) {
      run.problem('too_deep', layer.span, 'commands are wrapped too deeply');
      return this.#unit(layer);
    }
    if (first === undefined) return this.#unit(layer);
    if (first.kind !== 'literal') {
      // It may be `eval`, `cd` or a function.
      if (inShell) this.#state.forget();
      return this.#unit(layer);
    }
    if (inShell && !layer.noFunctions && run.functions.has(first.value)) {
      this.#push(layer);
      if (layer.stdin !== 'inherited' && layer.stdin !== 'closed') run.fed = true;
      this.#state.forget();
      // The function may be defined later, or not at all.
      if (opens(argv)) this.#beside(layer);
      return either(this.#state);
    }
    if (inShell && first.value === 'eval') return this.#eval(layer);
    if (inShell && first.value === 'trap') return this.#trap(layer);
    const peeled = peel(argv, inShell);
    if (peeled !== undefined) return this.run(this.#peeled(layer, peeled));
    if (programOf(first) === 'env' && splitsText(argv)) {
      this.#unread(splitWords(argv));
      run.problem('hidden_substitution', layer.span, '`env -S` reads text in a way of its own');
    }
    return this.#program(layer);
  }

  #peeled(layer: Layer, peeled: Peeled): Layer {
    const { directory, reads: file } = peeled;
    const given = (peeled.variables ?? []).map(
      ({ name, value }): Assigned => ({ name, value, span: layer.span, how: 'prefix' }),
    );
    const gone = new Set([...(peeled.unset ?? []), ...given.map(({ name }) => name)]);
    // We set it, so that git takes no directory of the project for a repository without being told.
    const freed = peeled.cleared === true || [...gone].some((name) => name.startsWith(GIT_CONFIG));
    const lost: readonly Assigned[] = freed
      ? [{ name: `${GIT_CONFIG}_COUNT`, value: undefined, span: layer.span, how: 'prefix' }]
      : [];
    const kept = peeled.cleared === true ? [] : layer.variables.filter(([name]) => !gone.has(name));
    const read: UnitRedirect[] =
      file === undefined ? [] : [{ effect: 'read', operator: '<', target: file, span: layer.span }];
    return {
      ...layer,
      argv: peeled.argv,
      assigned: [...layer.assigned, ...given, ...lost],
      redirects: [
        ...(directory === undefined ? layer.redirects : anchored(layer.redirects, layer.cwds)),
        ...read,
      ],
      cwds: directory === undefined ? layer.cwds : movedTo(layer.cwds, directory),
      via: [...layer.via, peeled.name],
      depth: layer.depth + 1,
      inShell: layer.inShell && peeled.inShell,
      noFunctions: true,
      variables: [...kept, ...known(given)],
      // What `xargs` reads is not what the command reads.
      ...(peeled.name === 'xargs' && file === undefined
        ? { input: undefined, written: undefined, stdin: 'closed' as const }
        : {}),
    };
  }

  #program(layer: Layer): Ends {
    const { run } = this.#walker;
    const { argv } = layer;
    const shell = shellOf(argv);
    if (shell?.kind === 'script') return this.#script(layer, shell.script);
    if (shell?.kind === 'input' && layer.ownStdin === 'text' && layer.input !== undefined) {
      const understood = shell.understood && reads(shell.name, layer.input);
      const script = { name: shell.name, text: layer.input, positional: [], understood };
      const before = run.units.length;
      const ends = this.#script(layer, script);
      if (readsItself(script.text, run.units.slice(before))) {
        const message = 'a command in it may read the rest of the script as its input';
        run.problem('hidden_substitution', layer.span, message);
      }
      return ends;
    }
    if (shell?.kind === 'input' && layer.ownStdin === 'text') run.unread.push(layer.written ?? '');
    if (shell?.kind === 'other' && shell.text !== undefined) this.#unread([shell.text]);
    const program = programOf(argv[0]);
    if (program === 'find') return this.#finding(layer, clausesOfFind(argv), 'find -exec');
    if (program === 'fd' || program === 'fdfind') {
      return this.#finding(layer, clausesOfFd(argv), 'fd --exec');
    }
    const inside = behind(argv);
    if (inside !== undefined) {
      const inner = this.#unit(layer);
      const hidden = { ...layer, behind: layer.behind ?? inside.name, depth: layer.depth + 1 };
      if (inside.text?.kind === 'literal') this.#text(hidden, inside.text.value, inside.name, []);
      else if (inside.text !== undefined) this.#unread([inside.text]);
      if (inside.argv !== undefined) {
        this.#beside({ ...hidden, argv: inside.argv, inShell: false });
      }
      return inner;
    }
    return this.#unit(layer);
  }

  /** A command that another process runs: it changes nothing here. */
  #beside(layer: Layer): void {
    const aside = new Execution(this.#walker, this.#place, this.#state.copy(), []);
    aside.run({ ...layer, inShell: opensInShell(layer), noFunctions: true });
  }

  #finding(layer: Layer, { argv, clauses, doubtful }: Finding, name: string): Ends {
    if (doubtful) {
      const message = `where the command of \`${name}\` ends cannot be told`;
      this.#walker.run.problem('hidden_substitution', layer.span, message);
    }
    const ends = this.#unit({ ...layer, argv });
    for (const clause of clauses) {
      this.#beside({
        ...layer,
        argv: clause.argv,
        cwds: clause.elsewhere ? undefined : layer.cwds,
        via: [...layer.via, name],
        depth: layer.depth + 1,
      });
    }
    return ends;
  }

  #script(layer: Layer, script: Script): Ends {
    if (script.understood) {
      this.#text(layer, script.text, script.name, script.positional);
      return either(this.#state);
    }
    const kind = shellKind(script.name.replace(/ .*$/, ''));
    if (kind === 'bash' || kind === 'posix') {
      const message = 'that shell may read its script in another way';
      this.#walker.run.problem('syntax_option', layer.span, message);
    }
    const ends = this.#unit(layer);
    const hidden = { ...layer, behind: layer.behind ?? script.name.replace(/ -c$/, '') };
    // Another shell may read it in another way, so that what bash cannot read is no surprise.
    this.#text(hidden, script.text, script.name, script.positional);
    return ends;
  }

  /** A script of which a part is only known when it runs. */
  #unread(words: readonly Arg[]): void {
    this.#walker.run.unread.push(words.map(writtenText).join(' '));
  }

  /** A script in a process of its own. */
  #text(layer: Layer, text: string, name: string, positional: readonly Arg[]): void {
    const state = new State(layer.cwds, layer.variables, new Set(layer.variables.map(([n]) => n)));
    state.positional = positional;
    this.#open(layer, text, [...layer.via, name], state);
  }

  #open(layer: Layer, text: string, via: readonly string[], state: State): void {
    const { run } = this.#walker;
    if (!run.open()) {
      run.problem('too_many', layer.span, 'it has too many scripts inside of it');
      return;
    }
    const before = run.units.length;
    this.#walker.text(
      text,
      {
        frame: {
          source: text,
          inPlace: false,
          depth: layer.depth + 1,
          via,
          behind: layer.behind,
        },
        redirects: layer.redirects,
        assigned: layer.assigned,
        stdin: layer.stdin,
        nesting: this.#place.nesting + 1,
        substituted: 'no',
      },
      state,
    );
    const inShell = /^(?:eval|trap)$/.test(via.at(-1) ?? '');
    const unseen = !inShell || layer.redirects.length > 0 || layer.assigned.length > 0;
    if (run.units.length === before && unseen) this.#push({ ...layer, argv: [], via });
  }

  /** In this shell, with its variables. */
  #eval(layer: Layer): Ends {
    const words = layer.argv.slice(isDashes(layer.argv[1]) ? 2 : 1);
    const values = words.flatMap((arg) => (arg.kind === 'literal' ? [arg.value] : []));
    if (values.length !== words.length) {
      this.#unread(words);
      return this.#unit(layer);
    }
    const state = this.#state;
    for (const { name, value } of this.#prefix) {
      state.set(name, value === undefined ? undefined : [value]);
    }
    this.#open(layer, values.join(' '), [...layer.via, 'eval'], state);
    for (const { name } of this.#prefix) state.set(name, undefined);
    return either(state);
  }

  #trap(layer: Layer): Ends {
    const { run } = this.#walker;
    const words = layer.argv.slice(isDashes(layer.argv[1]) ? 2 : 1);
    const [action, ...signals] = words;
    const plain = words.every(({ kind }) => kind === 'literal');
    const text = action?.kind === 'literal' ? action.value : '';
    const ends = this.#push(layer);
    if (plain && (signals.length === 0 || text === '-' || text === '' || /^-[lp]$/.test(text))) {
      return ends;
    }
    const atExit = signals.every(
      (one) => one.kind === 'literal' && /^(?:EXIT|0)$/i.test(one.value),
    );
    if (!atExit) {
      // From here on it may run between any two commands.
      run.volatile = true;
      this.#state.forget();
    }
    if (action?.kind === 'literal') {
      run.body(() => this.#open(layer, text, [...layer.via, 'trap'], new State(undefined)));
    } else if (action !== undefined) this.#unread([action]);
    return ends;
  }

  #unit(layer: Layer): Ends {
    const { run } = this.#walker;
    const assigned: Assigned[] = [];
    const state = this.#state;
    const [first] = layer.argv;
    let ends = either(state);
    const own = first?.kind === 'literal' && (layer.noFunctions || !run.functions.has(first.value));
    if (layer.inShell && own) {
      const { argv, span } = layer;
      ends = builtin({ run, state, argv, span, assigned }) ?? ends;
      // A redirection that fails keeps it from exiting; its own variables change where it goes.
      if (ends.ok === undefined && layer.redirects.length > 0) ends = either(state);
      if (ends.ok !== undefined && ends.ok !== state && this.#prefix.length > 0) {
        ends.ok.cwds = undefined;
      }
      if (first.value === 'exec' && argv.length === 1 && layer.ownStdin !== undefined) {
        state.stdin = layer.ownStdin;
        run.fed = true;
      }
    }
    this.#push(layer, assigned);
    return ends;
  }

  #push(layer: Layer, more: readonly Assigned[] = []): Ends {
    const listed = new Set(more.map(({ name }) => name));
    const unit: Unit = {
      span: layer.span,
      argv: layer.argv,
      // Of `export A=1` the builtin knows more than the word.
      assigned: [
        ...layer.assigned.filter((a) => a.how === 'prefix' || !listed.has(a.name)),
        ...more,
      ],
      redirects: layer.redirects,
      cwds: layer.cwds,
      stdin: layer.stdin,
      via: layer.via,
      behind: layer.behind,
    };
    this.#walker.run.unit(unit);
    return either(this.#state);
  }
}

const GIT_CONFIG = 'GIT_CONFIG';

/** `command` and its like are only taken off where the shell would run them. */
function opensInShell({ argv, inShell }: Layer): boolean {
  return inShell && /^(?:command|builtin|exec)$/.test(programOf(argv[0]) ?? '');
}

function isDashes(arg: Arg | undefined): boolean {
  return arg?.kind === 'literal' && arg.value === '--';
}

function opens(argv: readonly Arg[]): boolean {
  if (peel(argv, true) !== undefined || shellOf(argv) !== undefined) return true;
  return behind(argv) !== undefined || /^(?:find|fd|fdfind)$/.test(programOf(argv[0]) ?? '');
}

function movedTo(cwds: Cwds, directory: Arg): Cwds {
  if (directory.kind !== 'literal') return undefined;
  if (posix.isAbsolute(directory.value)) return [posix.resolve(directory.value)];
  return cwds?.map((cwd) => posix.resolve(cwd, directory.value));
}
