// The truth about a pipeline: which of its stages failed, also when the last one did not. bash
// tells it at its end, through a trap that it sets up before the command begins. Nothing of that
// can be seen from the command: no variable, no output, the same exit status. Where a command could
// notice or be disturbed (it has traps of its own, or looks at the variables of the shell), it is
// let be.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectories } from '../directories.ts';
import { processAlive, thisProcess } from '../run/processes.ts';
import { quoteWord, shortLine } from '../text/printable.ts';
import { endingPipeline } from '../text/shell-facts.ts';
import { noticesTrap } from '../text/shell-traps.ts';
import { atExit, bashEnv } from './shell-prelude.ts';

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
    if (stages === undefined || noticesTrap(command)) return undefined;
    try {
      this.#dir ??= this.#open();
      const file = join(this.#dir, `${this.#count++}`);
      const script = `${file}.sh`;
      const tell = `\\builtin printf '%s ' "\${PIPESTATUS[@]}" >>${quoteWord(file)}`;
      writeFileSync(file, '', { mode: 0o600, flag: 'wx' });
      writeFileSync(script, atExit(tell), { mode: 0o600, flag: 'wx' });
      return {
        env: { BASH_ENV: bashEnv(script) },
        failed() {
          const found = failedStages(file, stages);
          for (const path of [script, file]) rmSync(path, { force: true });
          return found;
        },
      };
    } catch {
      return undefined; // a state root that cannot be written is no reason not to run
    }
  }

  close(): void {
    if (this.#dir !== undefined) rmSync(this.#dir, { recursive: true, force: true });
    this.#dir = undefined;
  }

  #open(): string {
    makeDirectories(this.#root, 0o700);
    for (const name of readdirSync(this.#root)) {
      const [pid = 0, startTime = 0] = name.split('-').map(Number);
      if (!processAlive({ pid, startTime })) {
        rmSync(join(this.#root, name), { recursive: true, force: true });
      }
    }
    const { pid, startTime } = thisProcess();
    return mkdtempSync(join(this.#root, `${pid}-${startTime}-`));
  }
}

type StageText = string | undefined;

/** The stages of the pipeline that the command ends with, if there are several. */
function lastPipeline(command: string): readonly StageText[] | undefined {
  if (!command.includes('|')) return undefined;
  const last = endingPipeline(command);
  if (last === undefined || last.stages.length < 2) return undefined;
  // With these another pipeline may have been the last one to run.
  const certain = !/&&|\|\||\b(set|exit)\b/.test(command);
  return last.stages.map((stage) => {
    const span = stage.kind === 'simple' ? stage.command.span : undefined;
    return certain && span !== undefined ? command.slice(span.from, span.to) : undefined;
  });
}

function failedStages(file: string, stages: readonly StageText[]): readonly FailedStage[] {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return []; // the file was removed: then nothing is known
  }
  const codes = /^(\d{1,3} )+$/.test(text) ? text.trim().split(' ').map(Number) : [];
  if (codes.length !== stages.length) return [];
  return codes.flatMap((code, index) => {
    const last = index === codes.length - 1;
    if (code === 0 || code === BROKEN_PIPE || last) return [];
    return [{ stage: index + 1, of: codes.length, code, command: shown(stages[index]) }];
  });
}

function shown(text: StageText): StageText {
  return text && shortLine(text, STAGE_SHOWN_MAX);
}
