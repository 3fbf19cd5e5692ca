// Judges one unit of a command by all rules: first those that deny, then those that ask, then the
// protection that no rule lifts, then the rules that allow, and the default at the end.

import { baseName } from '../text/base-name.ts';
import { literalOf, wordArg } from './analyse/args.ts';
import { type Bounds, mayRedirect, type Objection, protectionObjection } from './bounds.ts';
import type { Reason, RuleRef, Verdict } from './decision.ts';
import { activates, programIn } from './environments.ts';
import { otherWords } from './equivalents.ts';
import { hides, type Line } from './evasion.ts';
import { isFilter } from './filters.ts';
import { inputUse } from './input.ts';
import { type Covers, coversOf, inertObjection } from './match.ts';
import { readCall } from './profiles/index.ts';
import { approvesItself, isOwnPath, needsNoRule, programName } from './programs.ts';
import { objectionReason, plainReason, ruleReason, unitText } from './reasons.ts';
import type { Rule, Rules } from './rules.ts';
import { strictMatch } from './strict.ts';
import { surroundings } from './surroundings.ts';
import { copyTargetObjection, touchedWords } from './touched.ts';
import type { Arg, Unit, UnitRedirect } from './unit.ts';

export type Court = {
  readonly rules: Rules;
  readonly bounds: Bounds;
  readonly fallback: Verdict;
  /** A file that projects cannot loosen denies what its own rules do not allow. */
  readonly sealed: boolean;
  /** What only filters the output of another command needs no rule. */
  readonly filters: boolean;
};

export type Case = {
  readonly text: string;
  /** Functions that the text defines. */
  readonly functions: ReadonlySet<string>;
  /** Why the words that `xargs` adds may not be trusted, if so. */
  readonly tainted: () => Objection | undefined;
  /** It writes files and starts programs by their path. */
  readonly makes: boolean;
  /** Processes are judged again when they start. */
  readonly gated: boolean;
  /** Whether a part of the command may put a link in the way of this one. */
  readonly moves: (unit: Unit) => boolean;
  /** It sources an activation script that is known. */
  readonly activated: () => boolean;
};

export function judgeUnit(unit: Unit, court: Court, given: Case): Reason {
  const reason = judgeAsItIs(unit, court, given);
  if (reason.code !== 'default.allow') return reason;
  const spelled = spelledOut(unit);
  if (spelled === undefined || judgeAsItIs(spelled, court, given).verdict === 'allow')
    return reason;
  const message = `With nothing where something is not known, it is \`${unitText(spelled)}\`.`;
  return plainReason(unit, 'ask', 'argument.unknown', message);
}

/** `yarn d$()eploy` is `yarn deploy` if there is nothing in between. Undefined: it has no such. */
function spelledOut(unit: Unit): Unit | undefined {
  const argv = unit.argv.map((arg): Arg => {
    const shut = arg.kind === 'unknown' ? arg.shape?.shut : undefined;
    if (shut === undefined || shut === '') return arg;
    const at = shut.search(/(?<!\\)[*?[]/);
    const { span } = arg;
    const value = shut.replace(/\\([\s\S])/g, '$1'); // quoted, not a pattern
    if (at < 0) return { kind: 'literal', value, source: value, span };
    return { kind: 'glob', pattern: shut, prefix: shut.slice(0, at), source: shut, span };
  });
  return argv.some((arg, at) => arg !== unit.argv[at]) ? { ...unit, argv } : undefined;
}

/** One unit with all that it is judged by. */
type Hearing = {
  readonly unit: Unit;
  /** Its command line, and those inside of it. */
  readonly lines: readonly Line[];
  readonly court: Court;
  readonly given: Case;
};

function judgeAsItIs(unit: Unit, court: Court, given: Case): Reason {
  if (approvesItself(unit.argv)) {
    const message = 'An agent may not approve its own commands.';
    return plainReason(unit, 'deny', 'builtin.dangerous', message);
  }
  const strict = strictReason({ unit, lines: linesOf(unit.argv), court, given });
  if (strict?.verdict === 'deny') return strict;
  if (unit.behind !== undefined) return strict ?? fine(unit);
  const around = surroundings(unit, court.bounds, {
    fallback: court.fallback,
    text: given.text,
    moves: given.moves,
  });
  if (around?.final === true) return objectionReason(unit, 'deny', around);
  const program = given.moves(unit) ? undefined : programIn(unit, court.bounds);
  const meant = program?.unit ?? unit;
  const hearing = { unit: meant, lines: linesOf(meant.argv), court, given };
  const held = protection(hearing);
  if (held?.final === true) return objectionReason(unit, 'deny', held);
  const refused = court.fallback === 'deny' ? 'deny' : 'ask';
  const rest =
    held === undefined
      ? judgeRest(hearing, around, program?.objection)
      : objectionReason(unit, refused, held);
  // A rule that asks does not open what would be denied without it.
  return strict === undefined || rest.verdict === 'deny' ? rest : strict;
}

function judgeRest(
  hearing: Hearing,
  around: Objection | undefined,
  distrust: Objection | undefined,
): Reason {
  const { unit, court, given } = hearing;
  const refused = court.fallback === 'deny' ? 'deny' : 'ask';
  const [first] = unit.argv;
  if (first === undefined || isFree(hearing) || isFunction(first, given)) {
    return around === undefined ? fine(unit) : objectionReason(unit, refused, around);
  }
  if (first.kind !== 'literal') {
    const reason = unknownProgram(unit, court, given);
    if (reason.verdict !== 'allow' || around === undefined) return reason;
    return objectionReason(unit, refused, around);
  }
  const { rule, objection, near } = allowing(hearing);
  if (rule !== undefined) {
    return around === undefined
      ? ruleReason(unit, 'allow', rule)
      : objectionReason(unit, refused, around, rule);
  }
  if (court.filters && around === undefined && isFilter(unit, hearing.lines)) {
    const message = `\`${unitText(unit)}\` only filters what it reads.`;
    return plainReason(unit, 'allow', 'builtin', message);
  }
  if (distrust !== undefined && court.fallback !== 'allow') {
    return objectionReason(unit, refused, distrust, near);
  }
  if (objection !== undefined && court.fallback !== 'allow') {
    return objectionReason(unit, refused, objection, near);
  }
  return byDefault(hearing, around, near);
}

/** The command line, and those inside of it: `npx tsc`, `uv run pytest`. */
function linesOf(argv: readonly Arg[]): readonly Line[] {
  const lines: Line[] = [];
  let rest = argv;
  while (rest.length > 0 && lines.length < 8) {
    const call = readCall(rest);
    lines.push({ argv: rest, call });
    if (call?.inner === undefined || call.inner === 0) break;
    rest = rest.slice(call.inner);
  }
  return lines;
}

function strictReason({ unit, lines, court }: Hearing): Reason | undefined {
  const { rules, bounds } = court;
  const context = { ...bounds.roots, cwds: unit.cwds };
  const own = [...lines.map(({ argv }) => argv), ...wrapped(unit)];
  const argvs = [...own, ...own.flatMap(otherWords)];
  let perhaps: Reason | undefined;
  for (const verdict of ['deny', 'ask'] as const) {
    for (const { words, ref, rule } of rules.strict[verdict]) {
      for (const argv of argvs) {
        if (argv[0]?.kind !== 'literal') continue;
        const match = strictMatch(words, argv, context);
        if (match === 'yes') return ruleReason(unit, verdict, ref, rule.reason);
        if (match === 'maybe') perhaps ??= maybe(unit, ref);
      }
    }
  }
  return perhaps;
}

/** The line with the wrappers that were opened: a rule about `bash -c` or `find -exec` means it. */
function wrapped({ via, argv }: Unit): readonly (readonly Arg[])[] {
  const lines = via.map((_, at) => {
    const words = via.slice(at).flatMap((one) => one.split(' '));
    return [...words.map(wordArg), ...argv];
  });
  const [first, ...rest] = argv;
  const git = first?.kind === 'literal' ? /(?:^|\/)git-([\w-]+)$/.exec(first.value) : null;
  return git === null ? lines : [...lines, [wordArg('git'), wordArg(git[1] ?? ''), ...rest]];
}

function maybe(unit: Unit, ref: RuleRef): Reason {
  const could = `\`${unitText(unit)}\` could be what the rule \`${ref.pattern}\` is about`;
  const message = `With what is only known when it runs, ${could}.`;
  return plainReason(unit, 'ask', 'argument.unknown', message, { rule: ref });
}

/** Secrets that it would read, or files that it must not write. */
function protection({ unit, lines, court }: Hearing): Objection | undefined {
  if (activates(unit, court.bounds)) return undefined;
  let found: Objection | undefined;
  for (const { argv, call } of lines) {
    for (const { access, removes, word, perhaps, built } of touchedWords(argv, call)) {
      const certain = call !== undefined && perhaps !== true;
      const where = {
        cwds: unit.cwds,
        bounds: court.bounds,
        removes,
        certain,
        built: built === true,
      };
      const objection = protectionObjection(word, access, where);
      if (objection?.final === true && certain) return objection;
      // Without a profile, and of a script, we cannot tell whether it would write.
      if (objection !== undefined) found ??= { ...objection, final: false };
    }
    found ??= copyTargetObjection(argv, call, { cwds: unit.cwds, bounds: court.bounds });
  }
  return found;
}

/** It needs no rule, or it only writes its input where `>` may write. */
function isFree({ unit, lines, court, given }: Hearing): boolean {
  if (needsNoRule(unit)) return true;
  if (activates(unit, court.bounds)) return !given.moves(unit);
  const [program, ...words] = unit.argv.map(literalOf);
  if (program === 'deactivate' && words.length === 0) return given.activated();
  if (court.bounds.scope === undefined) return false;
  // What it writes to is judged as a redirection.
  if (programName(program ?? '') === 'cat') {
    return words.every((word) => word === '-') && unit.redirects.some(writes);
  }
  if (programName(program ?? '') !== 'tee') return false;
  const parts = lines[0]?.call?.parts ?? [];
  return (
    words.length > 0 &&
    parts.every(
      ({ role, value, effect }) =>
        (role === 'option' && effect === undefined) ||
        (role === 'output' && value !== undefined && mayTee(value, unit, court, given)),
    )
  );
}

function writes({ effect }: UnitRedirect): boolean {
  return effect === 'write' || effect === 'append';
}

function mayTee(value: string, unit: Unit, { bounds }: Court, { moves }: Case): boolean {
  return mayRedirect(value, { cwds: unit.cwds, bounds }, moves(unit));
}

function isFunction(first: Arg, { functions }: Case): boolean {
  return first.kind === 'literal' && functions.has(first.value);
}

function fine(unit: Unit): Reason {
  return plainReason(unit, 'allow', 'builtin', `\`${unitText(unit)}\` needs no rule.`);
}

function unknownProgram(unit: Unit, { fallback, rules }: Court, { gated }: Case): Reason {
  const strict = rules.strict.deny.length + rules.strict.ask.length > 0;
  const open = fallback === 'allow' && (!strict || gated);
  return plainReason(
    unit,
    open ? 'allow' : fallback === 'deny' ? 'deny' : 'ask',
    open ? 'default.allow' : 'program.unknown',
    `Which program \`${unitText(unit)}\` runs is only known when it runs.`,
    { hint: 'Write the name of the program itself.' },
  );
}

type RuleSearch = {
  readonly rule?: RuleRef;
  readonly objection?: Objection;
  readonly near?: RuleRef | undefined;
};

/** The rule that allows it, or the one that came nearest and what stood in its way. */
function allowing(hearing: Hearing): RuleSearch {
  const { unit, court } = hearing;
  const program = literalOf(unit.argv[0]);
  const candidates = [
    ...court.rules.allowing(program),
    ...(programName(program) === program ? [] : court.rules.allowing(programName(program))),
  ].filter(({ origin }) => !court.sealed || origin !== 'project');
  let nearest: { readonly ref: RuleRef; readonly near: number } | undefined;
  let objection: Objection | undefined;
  for (const rule of candidates) {
    const result = coversOf(rule.words, unit.argv);
    if ('near' in result) {
      if (nearest === undefined || result.near > nearest.near) {
        nearest = { ref: rule.ref, near: result.near };
      }
      continue;
    }
    const against = ruleObjection(hearing, rule, result.covers);
    if (against === undefined) return { rule: rule.ref };
    // The first that fits is the one whose reason is told.
    if (objection === undefined) {
      objection = against;
      nearest = { ref: rule.ref, near: Number.POSITIVE_INFINITY };
    }
  }
  return { near: nearest?.ref, ...(objection !== undefined && { objection }) };
}

function ruleObjection(
  { unit, lines, court, given }: Hearing,
  { rule, via, words }: Rule,
  covers: Covers,
): Objection | undefined {
  const piped = unit.stdin !== 'inherited' && unit.stdin !== 'closed';
  if (rule.stdin === 'none' && piped) {
    return { code: 'stdin', detail: unit.stdin, message: 'the rule is for no input' };
  }
  const use = rule.stdin === 'any' ? 'data' : inputUse(unit, lines);
  if (use === 'code' || use === 'unknown') {
    return {
      code: 'code.unseen',
      detail: unit.stdin,
      message:
        use === 'code'
          ? 'the program runs its input, which is not in the text'
          : 'the program may run its input, which the rule does not cover',
      hint: 'Save it to a file, look at it, and run that; `stdin: any` in the rule covers it.',
    };
  }
  const unseen = via.includes('xargs') && unit.via.includes('xargs');
  const open = words.at(-1)?.kind === 'rest';
  const call = lines[0]?.call;
  const objection = inertObjection({
    unit,
    call,
    rule,
    covers,
    bounds: court.bounds,
    open,
    unseen,
  });
  return objection ?? (unseen && rule.args !== 'any' ? given.tainted() : undefined);
}

function byDefault(
  { unit, lines, court, given }: Hearing,
  around: Objection | undefined,
  near: RuleRef | undefined,
): Reason {
  const text = unitText(unit);
  const { fallback } = court;
  if (fallback !== 'allow') {
    const why = ownPathMessage(unit, court) ?? `No rule allows \`${text}\`.`;
    const code = why.startsWith('No rule') ? (`default.${fallback}` as const) : 'program.path';
    return plainReason(unit, fallback, code, why, {
      nearest: near?.pattern,
      hint: hintFor(near, court.rules),
    });
  }
  if (around !== undefined) return objectionReason(unit, 'ask', around, near);
  const { rules, bounds } = court;
  const hidden = hides(unit, lines, { ...given, rules, roots: bounds.roots });
  if (hidden !== undefined) return objectionReason(unit, 'ask', hidden, near);
  return plainReason(unit, 'allow', 'default.allow', `Nothing denies \`${text}\`.`);
}

function ownPathMessage({ argv }: Unit, { rules }: Court): string | undefined {
  const [first] = argv;
  if (first?.kind !== 'literal' || !isOwnPath(first.value)) return undefined;
  const name = baseName(first.value);
  if (rules.allowing(name).length === 0) return undefined;
  const whose = "rules without a directory are for the system's programs";
  return `\`${first.value}\` is not \`${name}\`: ${whose}.`;
}

/** Names what would be allowed: the rule that came nearest, or a few of those there are. */
function hintFor(near: RuleRef | undefined, { allowed }: Rules): string | undefined {
  if (near !== undefined) return `The nearest rule is \`${near.pattern}\`.`;
  const patterns = allowed();
  if (patterns.length === 0) return undefined;
  const shown = patterns.slice(0, HINT_RULES_MAX).map((pattern) => `\`${pattern}\``);
  const more = patterns.length > shown.length ? ' and others' : '';
  return `Allowed are ${shown.join(', ')}${more}.`;
}

const HINT_RULES_MAX = 4;
