// What the policy says of a call before it runs, and what the agent is told. A decision is written
// down as an intent for the shell behind the hook. A question of the policy becomes the client's
// only where that was proven to reach a person; everywhere else it is a denial with an id, and the
// repeat runs once a person has approved it.

import { stateRoot } from '../capture/paths.ts';
import { Approvals, type Asker, approvable, type Subject } from '../policies/approvals.ts';
import { Budgets, budgetUses } from '../policies/budgets.ts';
import { heldText } from '../policies/changes.ts';
import { answersOf, contentId, type InForce } from '../policies/decide.ts';
import type { PolicyEngine } from '../policies/engine.ts';
import type { Decision } from '../policy/decision.ts';
import { because } from '../policy/reasons.ts';
import { sha256 } from '../text/hash.ts';
import { quoteWord } from '../text/printable.ts';
import { commandRedactor, type Redactor, redactor } from '../text/redact.ts';
import type { EntryDecision, Env } from '../types.ts';
import { asksPerson } from './asks.ts';
import type { HookCall, HookVerdict } from './call.ts';
import { findIntent, type Intent, intentName, placeIntent, replaceIntent } from './intent.ts';
import { isRegistered } from './registered.ts';
import { rewritten } from './rewrite.ts';

const REASONS_MAX = 20;

export type HookTerms = {
  readonly env: Env;
  /** `record`: nothing is refused. */
  readonly mode: 'enforce' | 'record';
  /** Commands are started by a shell of ours, whatever the client's own rules say. */
  readonly rewrite: boolean;
  readonly now: () => number;
  /** A shell of ours starts the command, and counts it for the budget of its rule. */
  readonly shellCounts?: boolean;
};

/** One thing that the call would do: a command, or a file that it writes. */
type Deed = {
  /** A command as it is; for a file, its tool and path. */
  readonly text: string;
  readonly beside: readonly string[];
  /** It is the agent's own tool that writes a file, and no command. */
  readonly edits: boolean;
  readonly decide: (inForce: InForce, cwd: string, agent: string | undefined) => Decision;
};

type Outcome = {
  readonly action: 'allow' | 'silent' | 'ask' | 'deny';
  readonly text: string;
  /** The name of the intent, where one could be written. */
  readonly intent: string | undefined;
  /** For the entry of a command that is denied. */
  readonly entry?: EntryDecision | undefined;
};

/** A command that does not run, for its entry. */
export type DeniedCommand = { readonly command: string; readonly decision: EntryDecision };

export type Judgement = {
  readonly verdict: HookVerdict;
  readonly denied: readonly DeniedCommand[];
};

/** `cwd` is a real path. */
export async function judgeCall(
  call: HookCall,
  cwd: string,
  engine: PolicyEngine,
  terms: HookTerms,
): Promise<Judgement> {
  const deeds = deedsOf(call);
  const judge = new Judge(call, cwd, engine, terms);
  const outcomes: Outcome[] = [];
  for (const deed of deeds) outcomes.push(await judge.outcome(deed));
  const refused =
    outcomes.find(({ action }) => action === 'deny') ??
    outcomes.find(({ action }) => action === 'ask');
  if (refused?.action === 'deny') {
    // The call as a whole does not run; the entry tells of what was refused in it.
    const denied = outcomes.flatMap(({ entry }, at) => {
      const command = call.tool?.kind === 'shell' ? deeds[at]?.text : undefined;
      return entry === undefined || command === undefined ? [] : [{ command, decision: entry }];
    });
    return { verdict: { kind: 'deny', text: refused.text }, denied };
  }
  return { verdict: permitted(call, outcomes, refused, terms), denied: [] };
}

function permitted(
  call: HookCall,
  outcomes: readonly Outcome[],
  refused: Outcome | undefined,
  terms: HookTerms,
): HookVerdict {
  if (refused !== undefined) return { kind: 'ask', text: refused.text };
  if (terms.rewrite && call.tool?.kind === 'shell') {
    const commands = call.tool.commands.map((command, at) =>
      rewritten(command, outcomes[at]?.intent),
    );
    return { kind: 'rewrite', commands };
  }
  const allowed = outcomes.length > 0 && outcomes.every(({ action }) => action === 'allow');
  return { kind: allowed ? 'allow' : 'silent' };
}

function deedsOf({ tool }: HookCall): readonly Deed[] {
  if (tool?.kind === 'shell') {
    if (tool.commands.length === 0) return [unknownDeed(tool.name, 'command')];
    return tool.commands.map((text) => ({
      text,
      beside: [],
      edits: false,
      decide: (inForce, cwd, agent) => inForce.decide(text, cwd, { agent }).decision,
    }));
  }
  if (tool?.kind !== 'file') return [];
  if (tool.edits.length === 0) return [unknownDeed(tool.name, 'file')];
  const paths = new Map(tool.edits.map((edit) => [edit.path, edit]));
  return [...paths.values()].map(({ path, removes }) => ({
    text: `${tool.name} ${quoteWord(path)}`,
    beside: ['edit'],
    edits: true,
    decide: (inForce, cwd) => inForce.decideWrite(path, cwd, removes),
  }));
}

/** Arguments of another form than we know: a person looks at what we cannot judge. */
function unknownDeed(name: string, what: 'command' | 'file'): Deed {
  const reason = {
    verdict: 'ask',
    code: what === 'file' ? 'path.unknown' : 'unanalysable',
    detail: 'arguments',
    span: undefined,
    unit: name,
    message: `Which ${what} \`${name}\` means is not in its arguments.`,
    rule: undefined,
    nearest: undefined,
    hint: undefined,
  } as const;
  const decision: Decision = { verdict: 'ask', code: reason.code, reasons: [reason] };
  return { text: name, beside: [what], edits: what === 'file', decide: () => decision };
}

class Judge {
  readonly #call: HookCall;
  readonly #cwd: string;
  readonly #engine: PolicyEngine;
  readonly #terms: HookTerms;
  readonly #approvals: Approvals;
  readonly #budgets: Budgets;
  readonly #redact: Redactor;
  /** A person has set up this agent's hook. */
  readonly #registered: boolean;
  /** As the client says, so that two hooks of one event agree; not where that cannot be. */
  readonly #at: number;

  constructor(call: HookCall, cwd: string, engine: PolicyEngine, terms: HookTerms) {
    this.#call = call;
    this.#cwd = cwd;
    this.#engine = engine;
    this.#terms = terms;
    this.#approvals = new Approvals(stateRoot(terms.env), terms.now);
    this.#budgets = new Budgets(stateRoot(terms.env), engine.project, terms.now);
    this.#redact = commandRedactor(redactor(terms.env));
    this.#registered = isRegistered(terms.env, call.agent, cwd);
    const now = terms.now();
    this.#at = call.at !== undefined && Math.abs(now - call.at) < AGREED_MS ? call.at : now;
  }

  async outcome(deed: Deed): Promise<Outcome> {
    const { inForce } = this.#engine;
    if (inForce === undefined) return this.#noted(deed, null, { action: 'silent', text: '' });
    const agent = this.#registered ? this.#call.agent : undefined;
    const decide = (): Decision => deed.decide(inForce, this.#cwd, agent);
    const plain = await this.#engine.paths.settled(decide);
    const decision = this.#budgets.within(plain, inForce.policies);
    const said = this.#decisionOf(decision, inForce);
    const { answerPrompts, onAsk } = answersOf(inForce.policies);
    const free = this.#terms.mode === 'record' || inForce.mode !== 'enforce';
    const held = free || deed.edits ? undefined : this.#held();
    if (held !== undefined) return this.#noted(deed, said, held);
    if (decision.verdict === 'allow') {
      const action = answerPrompts && !free ? 'allow' : 'silent';
      return this.#counted(decision, this.#place(deed, said), { action, text: '' }, free);
    }
    if (free) return this.#noted(deed, said, { action: 'silent', text: '' });
    const text = this.#redact(inForce.explain(decision));
    // The client is about to ask its person, and the question stays theirs.
    if (approvable(decision) && this.#call.event === 'permission') {
      return { action: 'silent', text: '', intent: undefined };
    }
    const entry = entryOf(decision, said);
    if (!approvable(decision)) return this.#noted(deed, said, { action: 'deny', text, entry });
    const asker = this.#asker(inForce);
    if (this.#approvals.lasts(this.#subject(deed), asker)) {
      const yes = { ...said, action: 'allow', approval_id: 'granted' } as const;
      return this.#noted(deed, yes, { action: 'silent', text: '' });
    }
    const approved = this.#approved(deed, said, asker);
    if (approved !== undefined) return approved;
    if (onAsk === 'allow_recorded') return this.#noted(deed, said, { action: 'silent', text: '' });
    return this.#asked(deed, { decision, asker }, said, text);
  }

  /** The first hook of the event counts a command that no shell of ours starts. */
  #counted(
    decision: Decision,
    placed: Placed | undefined,
    told: Omit<Outcome, 'intent'>,
    free: boolean,
  ): Outcome {
    const uses = budgetUses(decision);
    const counts = this.#call.event === 'before' && this.#terms.shellCounts !== true;
    if (uses.length > 0 && counts && placed?.first !== false) {
      const text = 'cuff policy: not run. The budget of its rule was used up meanwhile.';
      if (!this.#budgets.spend(uses) && !free) return { action: 'deny', text, intent: undefined };
    }
    return { ...told, intent: placed?.name };
  }

  /** What is protected changed in the sandbox, and the person has not looked yet. */
  #held(): Omit<Outcome, 'intent'> | undefined {
    const text = heldText(stateRoot(this.#terms.env), this.#engine.project);
    if (text === undefined) return undefined;
    const denied = { verdict: 'deny', code: 'changes', mode: 'enforce', rule: null } as const;
    return { action: 'deny', text: this.#redact(text), entry: { ...denied, approved: null } };
  }

  /** A person said yes before. The first hook of the event uses the yes up; the shell reads it. */
  #approved(deed: Deed, said: Said, asker: Asker): Outcome | undefined {
    const subject = this.#subject(deed);
    const granted = this.#approvals.granted(subject, asker);
    const yes = { ...said, action: 'allow', approval_id: 'granted' } as const;
    const known = findIntent(this.#terms.env, this.#name(deed));
    // Without an id of the call, another call of the same second has the same name.
    const same = this.#call.toolCall !== null || known?.intent.at === this.#at;
    if (known?.intent.decision?.approval_id === 'granted' && same) {
      return { action: 'silent', text: '', intent: known.name };
    }
    if (!granted || known !== undefined) return undefined;
    const placed = this.#place(deed, yes);
    if (placed?.first !== true) return undefined;
    if (this.#approvals.take(subject, asker))
      return { action: 'silent', text: '', intent: placed.name };
    const shown = { ...this.#intent(deed, said), command: this.#redact(deed.text) };
    replaceIntent(this.#terms.env, placed.name, shown);
    return undefined;
  }

  /** The conversation is the same for the tools of cuff in the same client. */
  #asker({ policies }: InForce): Asker {
    const { session, agent } = this.#call;
    return {
      policy: sha256(contentId(policies)).slice(0, 40),
      ...(session !== null && { conversation: `conversation:${session}` }),
      ...(this.#registered && { agent }),
    };
  }

  #asked(
    deed: Deed,
    { decision, asker }: { readonly decision: Decision; readonly asker: Asker },
    said: Said,
    text: string,
  ): Outcome {
    // Without an id it says that the client asks: then the shell takes the run for a yes.
    if (asksPerson(this.#call, this.#terms.env)) {
      return this.#noted(deed, { ...said, approval_id: null }, { action: 'ask', text });
    }
    const id = this.#approvals.ask(
      this.#subject(deed),
      {
        command: this.#redact(deed.text),
        beside: deed.beside,
        code: decision.code,
        reasons: decision.reasons
          .filter(({ verdict }) => verdict !== 'allow')
          .slice(0, REASONS_MAX)
          .map((reason) => this.#redact(because(reason))),
      },
      asker,
    );
    const what =
      id === undefined
        ? 'It cannot be kept until a person approves it.'
        : `Ask the person to run this, then ask for it again: cuff policy approve ${id}`;
    const noted = { ...said, approval_id: id ?? UNASKED };
    const entry = entryOf(decision, said);
    return this.#noted(deed, noted, { action: 'deny', text: `${text}\n${what}`, entry });
  }

  #noted(deed: Deed, said: Said | null, told: Omit<Outcome, 'intent'>): Outcome {
    return { ...told, intent: this.#place(deed, said)?.name };
  }

  /** Undefined: the state root cannot be written, and the shell judges by itself. */
  #place(deed: Deed, said: Said | null): Placed | undefined {
    if (this.#call.event !== 'before') return undefined;
    try {
      const shown = this.#redact(deed.text);
      const options = { second: this.#second, shown };
      return placeIntent(this.#terms.env, this.#intent(deed, said), options);
    } catch {
      return undefined;
    }
  }

  #decisionOf(decision: Decision, { policies }: InForce): Said {
    const { verdict: action, reasons } = decision;
    const [first] = reasons;
    return {
      action,
      rule: first?.rule?.pattern ?? null,
      reason: this.#redact(first === undefined ? '' : because(first)),
      approval_id: action === 'ask' ? UNASKED : null,
      policy: contentId(policies),
    };
  }

  #intent(deed: Deed, decision: Said | null): Intent {
    const { agent, session, toolCall, tool, permissionMode } = this.#call;
    const description = tool?.kind === 'shell' ? tool.description : null;
    return {
      agent,
      session,
      tool_call: toolCall,
      command: deed.text,
      description: description === null ? null : this.#redact(description),
      cwd: this.#cwd,
      permission_mode: permissionMode,
      ...(this.#registered && { registered: true }),
      decision,
      at: this.#at,
    };
  }

  #name(deed: Deed): string {
    return intentName(this.#intent(deed, null), this.#second);
  }

  get #second(): number {
    return Math.floor(this.#at / 1000);
  }

  #subject({ text, beside }: Deed): Subject {
    return { project: this.#engine.project, cwd: this.#cwd, command: text, beside };
  }
}

type Placed = { readonly name: string; readonly first: boolean };

type Said = NonNullable<Intent['decision']>;

function entryOf({ verdict, code }: Decision, { rule }: Said): EntryDecision {
  return { verdict, code, mode: 'enforce', rule, approved: null };
}

/** In the place of an id: no person was asked, and none can be. */
const UNASKED = 'unasked';

const AGREED_MS = 5_000; // between the event and the hook: a start of Node on a loaded machine
