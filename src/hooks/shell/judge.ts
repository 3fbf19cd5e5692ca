// Judges a command by the policies in force. Loaded only where there is a policy.

import { stateRoot } from '../../capture/paths.ts';
import { Guard, type Refusal, type Ruling } from '../../guard/guard.ts';
import type { SandboxWatch } from '../../guard/sandbox-watch.ts';
import type { RecorderMetrics } from '../../ops/metrics.ts';
import { answersOf, contentId } from '../../policies/decide.ts';
import { openPolicy } from '../../policies/engine.ts';
import { commandRedactor, redactor } from '../../text/redact.ts';
import type { AskPerson, EntryDecision, Env } from '../../types.ts';
import { type Intent, isHandedOver } from '../intent.ts';

export type Verdict =
  | {
      readonly run: true;
      readonly decision: EntryDecision | null;
      /** What the command line is put behind, by the words of a sandbox. Throws an `AppError`. */
      readonly hold: () => Hold;
    }
  | { readonly run: false; readonly decision: EntryDecision; readonly text: string };

/** What the command line is put behind, and whether it must not run without. */
export type Hold = {
  readonly words: readonly string[];
  readonly sandboxed: boolean;
  readonly watch?: SandboxWatch | undefined;
};

export type Question = {
  readonly command: string;
  /** Its real path. */
  readonly cwd: string;
  readonly project: string;
  readonly env: Env;
  readonly intent: Intent | undefined;
  readonly metrics: RecorderMetrics;
};

export async function judgeBy(question: Question): Promise<Verdict> {
  const { command, cwd, project, env, metrics, intent } = question;
  const engine = await openPolicy({ project, env, stateRoot: stateRoot(env), watch: false });
  const guard = new Guard(engine, metrics);
  const redact = commandRedactor(redactor(env));
  const shell = { gateCheck: () => ({ ok: false, reason: NO_GATE }) as const };
  const approved = approvalIn(intent, contentId(engine.policies));
  const ask: AskPerson = async () => ({ kind: 'chosen', value: 'once' });
  const lets = answersOf(engine.policies).onAsk === 'allow_recorded';
  // A variable alone says nothing: the hook of the agent has told of this very command.
  const client = intent?.registered === true ? intent.agent : undefined;
  const key = intent?.session ? `conversation:${intent.session}` : '';
  const call = { redact, shell, client, key, ...((approved !== undefined || lets) && { ask }) };
  const ruling = await guard.rule({ command, cwd }, call);
  await guard.close();
  engine.close();
  if (!ruling.run) return refused(ruling);
  const { decision } = ruling;
  if (decision?.approved !== 'elicitation') return permitted(ruling);
  return permitted({ ...ruling, decision: { ...decision, approved: approved ?? null } });
}

/**
 * How a person has said yes to this command, as the hook of this call noted: by a grant, which the
 * hook has used up, or to the agent itself, which asks only then. Another policy asks anew.
 */
function approvalIn(
  intent: Intent | undefined,
  policy: string,
): EntryDecision['approved'] | undefined {
  const said = intent?.decision ?? null;
  if (intent === undefined || said === null || said.policy !== policy) return undefined;
  if (said.action === 'allow' && said.approval_id === 'granted') return 'grant';
  return isHandedOver(intent) ? 'elicitation' : undefined;
}

/** Sets variables and becomes the command. */
const ENV = '/usr/bin/env';

const NO_GATE = "commands of an agent's own shell have no gate";

function permitted({ decision, hold }: Ruling): Verdict {
  return {
    run: true,
    decision,
    hold: () => {
      const { restraints, watch } = hold([]);
      const { sandbox, env = {} } = restraints;
      const around = sandbox?.([], { read: [], write: [] }) ?? [];
      const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      const words = [...(variables.length > 0 ? [ENV, ...variables] : []), ...around];
      // The client takes a `--` at the end for the runner's own, and the shell for the program.
      const prefix = words.at(-1) === '--' ? words.slice(0, -1) : words;
      return { words: prefix, sandboxed: !!sandbox, watch };
    },
  };
}

function refused({ decision, text }: Refusal): Verdict {
  return { run: false, decision, text };
}
