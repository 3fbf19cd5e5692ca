// One text, decided. A text that is only unclear may run where its programs are judged when they
// start, as long as that sees everything a rule is about. What cannot be decided is asked about.

import type { DecideOptions, Judgement } from '../policy/decide.ts';
import type { Decision, Mode, Reason } from '../policy/decision.ts';
import type { CommandRule, LoadedPolicy, Policy } from '../policy/policy.ts';
import { baseName } from '../text/base-name.ts';
import { sha256 } from '../text/hash.ts';
import { quoteWord } from '../text/printable.ts';
import { shellKind } from '../text/shells.ts';
import type { UnseenPath } from './path-lookup.ts';

type TextDecision = {
  readonly decision: Decision;
  /** It may run only because its programs are judged when they start. */
  readonly relies: boolean;
};

export type Decide = (command: string, cwd: string, options: DecideOptions) => TextDecision;

/** What `decide` of these policies is; it never throws. */
export function decideBy(judgement: Judgement, policies: readonly LoadedPolicy[]): Decide {
  const named = gateable(policies);
  return (command, cwd, { gated = false, agent }) => {
    const plain = judgement.decide(command, cwd, { gated: false, agent });
    const clear = !gated || plain.verdict !== 'ask' || named === undefined;
    if (clear || plain.reasons.some((reason) => unseen(reason, command, named))) {
      return { decision: plain, relies: false };
    }
    const open = judgement.decide(command, cwd, { gated: true, agent });
    const relies = open.verdict === 'allow';
    return { decision: relies ? open : plain, relies };
  };
}

/** A path that was not seen may lead anywhere, so what would be allowed is not. */
export function withUnseen(
  decision: Decision,
  [first]: readonly UnseenPath[],
  policies: readonly LoadedPolicy[],
): Decision {
  if (first === undefined || decision.verdict === 'deny') return decision;
  const { path, mount } = first;
  const sealed = policies.some(({ policy }) => policy.default === 'deny');
  const reason: Reason = {
    verdict: sealed ? 'deny' : 'ask',
    code: 'path.unknown',
    detail: 'mount',
    span: undefined,
    unit: path,
    message: `\`${mount}\` does not answer, so the policy cannot see where \`${path}\` leads.`,
    rule: undefined,
    nearest: undefined,
    hint: 'Try again when it does.',
  };
  const { verdict, code } = reason;
  const others = decision.reasons.filter((one) => one.verdict !== 'allow');
  return { verdict, code, reasons: [reason, ...others] };
}

/** Names what these policies say: the same id, the same decisions about the same disk. */
export function contentId(policies: readonly LoadedPolicy[]): string {
  const said = policies.map(({ file = '', origin, policy }) => [policyId(policy), origin, file]);
  return said.map((words) => words.join(' ')).join('\n');
}

const ids = new WeakMap<Policy, string>();

/** The hash of one policy. */
export function policyId(policy: Policy): string {
  const id = ids.get(policy) ?? sha256(JSON.stringify(policy)).slice(0, 40);
  ids.set(policy, id);
  return id;
}

/** For a policy that was kept together with its id. */
export function knowPolicy(policy: Policy, id: string): void {
  ids.set(policy, id);
}

/** The choices that only a person or the system makes; the system's word comes first. */
export function answersOf(policies: readonly LoadedPolicy[]): {
  readonly answerPrompts: boolean;
  readonly onAsk: 'deny' | 'allow_recorded';
} {
  const own = policies.filter(({ origin }) => origin !== 'project').map(({ policy }) => policy);
  return {
    answerPrompts: own.find((one) => one.answerPrompts !== undefined)?.answerPrompts ?? false,
    onAsk: own.find((one) => one.onAsk !== undefined)?.onAsk ?? 'deny',
  };
}

export type Deny = (argv: readonly string[], cwd: string, agent?: string) => Reason | undefined;

/** One version of the policy: who decides twice with it decides twice the same. */
export type InForce = {
  /** Never `off`. */
  readonly mode: Exclude<Mode, 'off'>;
  readonly judgement: Judgement;
  readonly policies: readonly LoadedPolicy[];
  /** Never throws: what cannot be decided is to be asked. */
  decide(command: string, cwd: string, options?: DecideOptions): PolicyDecision;
  /** The same for a file that an agent's own tool would write. */
  decideWrite(path: string, cwd: string, removes?: boolean): Decision;
  /** Why a process must not start. May throw. */
  readonly denies: Deny;
  /** The short text for an agent. */
  readonly explain: (decision: Decision) => string;
};

export type PolicyDecision = TextDecision & {
  /** The policy in the shadow would have decided otherwise. */
  readonly diverges: boolean;
};

/**
 * For a process that is about to start. Its words are judged as a text, too, when one of them may
 * be a program that is denied: behind `sudo`, and in `busybox rm`, is one that does not ask for
 * itself. What a shell runs does.
 */
export function denyBy(judgement: Judgement, policies: readonly LoadedPolicy[]): Deny {
  const strict = strictRules(policies).filter(({ decision }) => decision === 'deny');
  const names = strict.map(({ pattern }) => programOf(pattern));
  const plain = names.every((name) => PLAIN.test(name));
  const inside = (words: readonly string[]): boolean =>
    !plain || words.some((word) => names.some((name) => word.includes(name)));
  return (argv, cwd, agent) => {
    const { reasons } = judgement.decideProcess(argv, cwd, agent);
    const [program = '', ...rest] = argv;
    const judged = !program.includes('/') && !startsProcesses(program) && inside(rest);
    const text = argv.map(quoteWord).join(' ');
    const more = judged ? judgement.decide(text, cwd, { agent }).reasons : [];
    // A fault of ours counts as a denial: no person can be asked here.
    return [...reasons, ...more].find(
      ({ code, detail }) => code === 'rule.deny' || detail === 'fault',
    );
  };
}

/** A shell whose commands are processes like others. */
function startsProcesses(program: string): boolean {
  const kind = shellKind(program);
  return kind !== undefined && kind !== 'other';
}

function strictRules(policies: readonly LoadedPolicy[]): readonly CommandRule[] {
  const rules = policies.flatMap(({ policy }) => policy.policies.flatMap((one) => one.commands));
  return rules.filter(({ decision }) => decision !== 'allow');
}

/** The name of the program that a rule is about, or something like it. */
function programOf(pattern: string): string {
  return baseName(pattern.trim().split(/\s/)[0] ?? '');
}

const PLAIN = /^[\w.+-]+$/;

/**
 * The programs that rules deny; undefined when a gate does not see all that rules are about: what
 * a shell does itself is no process, and a running command cannot wait for a person.
 */
function gateable(policies: readonly LoadedPolicy[]): ReadonlySet<string> | undefined {
  const strict = strictRules(policies);
  const names = strict.map(({ pattern }) => programOf(pattern));
  const plain = names.every((name) => PLAIN.test(name) && !BUILTINS.has(name));
  return plain && strict.every(({ decision }) => decision === 'deny') ? new Set(names) : undefined;
}

/** What these run is elsewhere, or no process of its own. */
const ELSEWHERE = new Set(
  (
    'adb busybox chroot distrobox docker docker-compose flatpak kubectl limactl lxc machinectl ' +
    'mosh multipass nerdctl nsenter oc podman ssh systemd-nspawn toolbox toybox vagrant wsl'
  ).split(' '),
);

/**
 * A program on the other side of `sudo` or `ssh` does not ask, and one that a rule names may do
 * as a copy or under another word what the rule is about: `cp /bin/rm x`, a git alias.
 */
function unseen({ verdict, code, span }: Reason, command: string, named: ReadonlySet<string>) {
  if (verdict !== 'ask') return false;
  if (code === 'program.opaque') return true;
  const part = span === undefined ? command : command.slice(span.from, span.to);
  const words = part.replace(/['"\\]/g, '').split(/\s+/);
  return words.map(baseName).some((name) => named.has(name) || ELSEWHERE.has(name));
}

const BUILTINS = new Set(
  (
    '. : [ alias bg bind break builtin caller cd command compgen complete compopt continue ' +
    'declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history ' +
    'jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set ' +
    'shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait'
  ).split(' '),
);
