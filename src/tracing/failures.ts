// Which processes of a run failed, and their names. A pipeline's exit status is that of its last
// stage alone. `grep` without a match, and a writer whose reader left, are not failures.

import { ANSWERS } from '../text/answers.ts';
import { baseName } from '../text/base-name.ts';
import { quoteWords } from '../text/printable.ts';
import { shellKind } from '../text/shells.ts';
import { lastImage, type Process, type ProcessExit } from '../trace/processes/process.ts';
import { type Place, pipelinePlaces } from './stages.ts';

const BROKEN_PIPE = 141; // a shell's exit code for a program that died of SIGPIPE
const SIGNALLED_FROM = 128;
const SIGNALS_MAX = 64;

export type Failure = {
  readonly process: Process;
  /** As written in the command, or what it ran or is a copy of; undefined for a shell's copy. */
  readonly name: string | undefined;
  /** Its stage in a pipeline of the command. */
  readonly place: Place | undefined;
};

/**
 * In the order of their pids, without the command's own shell, whose end is reported separately.
 */
export function failures(processes: readonly Process[], command = ''): readonly Failure[] {
  const places = pipelinePlaces(processes, command);
  const failed = processes.filter(
    (one) => one.parent !== undefined && isFailure(one, places.get(one)),
  );
  // A copy of a shell that ends like its last program adds nothing.
  const echoes = new Set(
    failed.filter((one) => !isCopy(one)).map(({ parent, exit }) => `${parent} ${codeOf(exit)}`),
  );
  return failed
    .filter((one) => !isCopy(one) || !echoes.has(`${one.id} ${codeOf(one.exit)}`))
    .sort((a, b) => a.pid - b.pid)
    .map((process) => {
      const place = places.get(process);
      return { process, name: place?.text ?? programText(process), place };
    });
}

function isFailure(process: Process, place: Place | undefined): boolean {
  const { exit } = process;
  if (exit.kind === 'signaled') return exit.signal !== 'SIGPIPE';
  if (exit.kind !== 'exited' || exit.code === 0 || exit.code === BROKEN_PIPE) return false;
  // A copy of the shell runs a builtin.
  const program = (isCopy(process) ? place?.program : lastImage(process)?.argv[0]) ?? '';
  const answers = ANSWERS[program.slice(program.lastIndexOf('/') + 1)] !== undefined;
  return exit.code !== 1 || !answers;
}

/** A forked process that never became another program. */
function isCopy({ forkedFrom }: Process): boolean {
  return forkedFrom !== undefined;
}

/** Its exit code, or for a signal any code a shell maps it to. */
function codeOf(exit: ProcessExit): string {
  if (exit.kind === 'signaled') return 'signal';
  if (exit.kind !== 'exited') return '';
  const signalled = exit.code > SIGNALLED_FROM && exit.code <= SIGNALLED_FROM + SIGNALS_MAX;
  return signalled ? 'signal' : String(exit.code);
}

/** Its command line; undefined for a shell's copy of itself. */
function programText(process: Process): string | undefined {
  const image = lastImage(process);
  if (image === undefined) return undefined;
  if (isCopy(process)) {
    const program = baseName(image.exe || (image.argv[0] ?? ''));
    const shell = program === '' || shellKind(program.replace(/^-/, '')) !== undefined;
    return shell ? undefined : `(a copy of ${program})`;
  }
  return image.argv.length === 0 ? image.exe : quoteWords(image.argv);
}

/** `exit 1`, `SIGKILL` */
export function endText(exit: ProcessExit): string {
  if (exit.kind === 'signaled') return exit.signal;
  return exit.kind === 'exited' ? `exit ${exit.code}` : 'unknown end';
}
