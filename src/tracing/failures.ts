// Which processes of a run failed, and what they are called: the truth about a pipeline, whose exit
// status is that of its last stage alone. An answer like that of `grep`, and a writer whose reader
// had enough, are no failures.

import { ANSWERS } from '../text/answers.ts';
import { quoteWords } from '../text/printable.ts';
import { baseName, lastImage, type Process, type ProcessExit } from '../trace/processes/process.ts';
import { type Place, pipelinePlaces } from './stages.ts';

const BROKEN_PIPE = 141; // how a shell says that its program died of SIGPIPE
const SIGNALLED_FROM = 128;
const SIGNALS_MAX = 64;
const SHELLS = /^-?(ba|da|k|z|fi|)sh$|^$/;

export type Failure = {
  readonly process: Process;
  /** As it is written, or what it ran, or is a copy of; undefined for a shell's copy of itself. */
  readonly name: string | undefined;
  /** Its place in a pipeline of the command. */
  readonly place: Place | undefined;
};

/** In the order of their pids. The command's own shell, whose end is known, is not among them. */
export function failures(processes: readonly Process[], command = ''): readonly Failure[] {
  const places = pipelinePlaces(processes, command);
  const failed = processes.filter(
    (one) => one.parent !== undefined && isFailure(one, places.get(one)),
  );
  // A copy of a shell that ends as its last program did adds nothing.
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
  if (exit.kind === 'unknown' || exit.code === 0 || exit.code === BROKEN_PIPE) return false;
  // A copy of the shell is the builtin that it runs.
  const program = (isCopy(process) ? place?.program : lastImage(process)?.argv[0]) ?? '';
  const answers = ANSWERS[program.slice(program.lastIndexOf('/') + 1)] !== undefined;
  return exit.code !== 1 || !answers;
}

/** A forked process that never became another program. */
function isCopy({ forkedFrom }: Process): boolean {
  return forkedFrom !== undefined;
}

/** Its exit code, or for a signal any of those a shell makes of one. */
function codeOf(exit: ProcessExit): string {
  if (exit.kind === 'signaled') return 'signal';
  if (exit.kind === 'unknown') return '';
  const signalled = exit.code > SIGNALLED_FROM && exit.code <= SIGNALLED_FROM + SIGNALS_MAX;
  return signalled ? 'signal' : String(exit.code);
}

/** What it ran, as somebody would type it; undefined for a shell's copy of itself. */
function programText(process: Process): string | undefined {
  const image = lastImage(process);
  if (image === undefined) return undefined;
  if (isCopy(process)) {
    const program = baseName(image.exe || (image.argv[0] ?? ''));
    return SHELLS.test(program) ? undefined : `(a copy of ${program})`;
  }
  return image.argv.length === 0 ? image.exe : quoteWords(image.argv);
}

/** `exit 1`, `SIGKILL` */
export function endText(exit: ProcessExit): string {
  if (exit.kind === 'signaled') return exit.signal;
  return exit.kind === 'exited' ? `exit ${exit.code}` : 'unknown end';
}
