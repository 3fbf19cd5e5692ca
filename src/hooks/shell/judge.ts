// Judges a command by the policies in force. Loaded only where there is a policy.

import { stateRoot } from '../../capture/paths.ts';
import { Guard, type Refusal, type Ruling } from '../../guard/guard.ts';
import type { RecorderMetrics } from '../../ops/metrics.ts';
import { openPolicy } from '../../policies/engine.ts';
import { commandRedactor, redactor } from '../../text/redact.ts';
import type { EntryDecision, Env } from '../../types.ts';
import type { Intent } from '../intent.ts';

export type Verdict =
  | {
      readonly run: true;
      readonly decision: EntryDecision | null;
      /** What the command line is put behind, by the words of a sandbox. Throws an `AppError`. */
      readonly hold: () => readonly string[];
    }
  | { readonly run: false; readonly decision: EntryDecision; readonly text: string };

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
  const { command, cwd, project, env, metrics } = question;
  const engine = await openPolicy({ project, env, stateRoot: stateRoot(env), watch: false });
  const guard = new Guard(engine, metrics);
  const redact = commandRedactor(redactor(env));
  const shell = { gateCheck: () => ({ ok: false, reason: NO_GATE }) as const };
  const ruling = await guard.rule({ command, cwd }, { redact, shell });
  await guard.close();
  engine.close();
  return ruling.run ? permitted(ruling) : refused(ruling);
}

const NO_GATE = "commands of an agent's own shell have no gate";

function permitted({ decision, hold }: Ruling): Verdict {
  return {
    run: true,
    decision,
    hold: () => {
      const { sandbox } = hold([]);
      return sandbox?.([], { read: [], write: [] }) ?? [];
    },
  };
}

function refused({ decision, text }: Refusal): Verdict {
  return { run: false, decision, text };
}
