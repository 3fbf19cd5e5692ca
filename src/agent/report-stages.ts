// The truth about a pipeline: which of its stages failed, also when the last one did not. bash
// tells it at its end, through a trap that it sets up before the command begins. Nothing of that
// can be seen from the command: no variable, no output, the same exit status. Where a command could
// notice or be disturbed (it has traps of its own, or looks at the variables of the shell), it is
// let be.

import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { processAlive, thisProcess } from '../run/processes.ts';
import { lastPipelineStages } from '../text/shell-facts.ts';
import { parseShell } from '../text/shell-parse.ts';

// The first command of the trap sees how the last pipeline went. `$_` is the same behind the eval
// as before it, and what stands behind the `#` is no part of the text.
const SCRIPT = `eval 'trap "{ builtin printf \\"%s \\" \\"\\\${PIPESTATUS[@]}\\" \
>>\${CUFF_STAGES@Q}; } 2>/dev/null" EXIT; unset BASH_ENV CUFF_STAGES #' "\${_//$'\\n'/ }"
`;

// Commands that would see the trap, or that it would disturb: `ulimit -f` forbids to write a file.
const LET_BE_WORDS =
  /\b(trap|PIPESTATUS|BASH_ENV|BASH_XTRACEFD|declare|typeset|local|compgen|ulimit|caller)\b/;
const LET_BE_SET = /\bset\s*($|[|;&>)\n])/; // all variables

const BROKEN_PIPE = 141; // a reader that has enough ends its writer so: nothing failed
const STAGE_SHOWN_MAX = 60;

export type FailedStage = {
  /** From 1. */
  readonly stage: number;
  readonly of: number;
  readonly code: number;
  /** As it is written, if that is certain. */
  readonly command: string | undefined;
};

export type WatchedPipeline = {
  /** For the environment of the command. */
  readonly env: Readonly<Record<string, string>>;
  /** Those before the last one that failed; call it once, when the shell is done. */
  failed(): readonly FailedStage[];
};

export class StageWatch {
  readonly #root: string;
  #dir: string | undefined;
  #count = 0;

  constructor(stateRoot: string) {
    this.#root = join(stateRoot, 'stages');
  }

  /** Undefined when the command ends with no pipeline, or must be let be. */
  watch(command: string): WatchedPipeline | undefined {
    const stages = lastPipeline(command);
    if (stages === undefined || noticeable(command)) return undefined;
    try {
      this.#dir ??= this.#open();
      const file = join(this.#dir, `${this.#count++}`);
      closeSync(openSync(file, 'wx', 0o600));
      // bash expands what is in BASH_ENV as if it stood in double quotes.
      const script = join(this.#dir, 'script').replace(/[$`"\\]/g, '\\$&');
      const env = { BASH_ENV: script, CUFF_STAGES: file };
      return { env, failed: () => failedStages(file, stages) };
    } catch {
      return undefined; // a state root that cannot be written is no reason not to run
    }
  }

  close(): void {
    if (this.#dir !== undefined) rmSync(this.#dir, { recursive: true, force: true });
    this.#dir = undefined;
  }

  #open(): string {
    mkdirSync(this.#root, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(this.#root)) {
      const [pid = 0, startTime = 0] = name.split('-').map(Number);
      if (!processAlive({ pid, startTime })) {
        rmSync(join(this.#root, name), { recursive: true, force: true });
      }
    }
    const { pid, startTime } = thisProcess();
    const dir = mkdtempSync(join(this.#root, `${pid}-${startTime}-`));
    writeFileSync(join(dir, 'script'), SCRIPT, { mode: 0o600 });
    return dir;
  }
}

function noticeable(command: string): boolean {
  return LET_BE_WORDS.test(command) || LET_BE_SET.test(command);
}

type StageText = string | undefined;

/** The stages of the pipeline that the command ends with, if there are several. */
function lastPipeline(command: string): readonly StageText[] | undefined {
  if (!command.includes('|')) return undefined;
  if (lastPipelineStages(command) < 2) return undefined;
  const last = parseShell(command).pipelines.at(-1);
  // With these another pipeline may have been the last one to run.
  const certain = !/&&|\|\||\b(set|exit)\b/.test(command);
  return last?.stages.map((stage) => {
    const span = stage.kind === 'simple' ? stage.command.span : undefined;
    return certain && span !== undefined ? command.slice(span.from, span.to) : undefined;
  });
}

function failedStages(file: string, stages: readonly StageText[]): readonly FailedStage[] {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
    rmSync(file, { force: true });
  } catch {
    return []; // somebody removed it: then nothing is known
  }
  const codes = /^(\d{1,3} )+$/.test(text) ? text.trim().split(' ').map(Number) : [];
  if (codes.length !== stages.length) return [];
  return codes.flatMap((code, index) => {
    const last = index === codes.length - 1;
    if (code === 0 || code === BROKEN_PIPE || last) return [];
    return [{ stage: index + 1, of: codes.length, code, command: shortened(stages[index]) }];
  });
}

function shortened(text: StageText): StageText {
  if (text === undefined) return undefined;
  const characters = [...text.trim().replace(/\s+/g, ' ')];
  if (characters.length <= STAGE_SHOWN_MAX) return characters.join('');
  return `${characters.slice(0, STAGE_SHOWN_MAX).join('')}…`;
}
