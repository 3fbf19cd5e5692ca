// The lanes of the tests. Tests of the pure lane start no process: they share one worker for
// each core. Tests of the real lane start processes and terminals, each file in its own worker, two
// at a time. `lane-pure.ts` and `lane-real.ts` hold every file to its lane while it runs. The files
// of `test/agents` start agent programs of other makers; only `npm run test:agents` runs them.
import { readdirSync } from 'node:fs';
import type { RunnerTask } from 'vitest';

/** Folders whose tests start processes, but for `PURE_FILES`. */
const REAL_FOLDERS = [
  'cli',
  'dialects',
  'git',
  'guard',
  'library',
  'mcp',
  'native',
  'recorder',
  'recordings',
  'run',
  'shell',
  'tracing',
  'web',
];

/** In those folders, tests that start none. */
export const PURE_FILES = [
  'cli/init/docs',
  'cli/init/edits',
  'cli/init/file',
  'cli/init/jsonc',
  'cli/init/toml',
  'cli/stop-signal',
  'dialects/arguments',
  'dialects/config-problems',
  'dialects/cuff_shell/document',
  'dialects/derun/dialect',
  'dialects/derun/text',
  'dialects/derun/wait',
  'dialects/documents',
  'dialects/phoenix_bash/document',
  'dialects/pipe_bash/document',
  'dialects/bash_recorder/config',
  'guard/guard',
  'guard/sandbox-scopes',
  'mcp/policy-asking',
  'mcp/progress',
  'mcp/retention',
  'mcp/server',
  'mcp/stdio',
  'recorder/recent',
  'recorder/sealed',
  'recorder/single',
  'recordings/transcripts/any',
  'recordings/transcripts/damaged',
  'recordings/transcripts/damaged-database',
  'recordings/transcripts/document',
  'recordings/transcripts/files',
  'recordings/transcripts/samples',
  'recordings/transcripts/shapes',
  'run/env',
  'run/mounts',
  'shell/output/fast-writer',
  'shell/output/folded',
  'shell/output/growth',
  'shell/output/new-output',
  'shell/output/page',
  'shell/output/suspects',
  'shell/output/view',
  'shell/spool-home',
];

/** In the other folders, tests that do start processes. */
export const REAL_FILES = [
  'age/interop',
  'agent/report-stages',
  'agent/shell-prelude',
  'capture/hole',
  'capture/packed/interop',
  'capture/paths',
  'capture/store',
  'capture/sweep',
  'capture/wait',
  'dependencies',
  'docs-commands',
  'file-watch',
  'getting-started',
  'hooks/shell/agents',
  'hooks/shell/identical',
  'hooks/shell/odd',
  'hooks/shell/policy',
  'hooks/shell/refused',
  'hooks/shell/resident',
  'hooks/shell/resident-faults',
  'hooks/shell/shell',
  'hooks/shell/unjudged',
  'hooks/shell/zsh',
  'host/builtins',
  'host/strays',
  'journal/catalog-file',
  'journal/disk',
  'journal/killed',
  'journal/packed/killed',
  'journal/reader',
  'journal/recovery',
  'ops/servers',
  'ops/status',
  'package',
  'packing/doors',
  'policies/engine',
  'policies/environments',
  'policies/hung-mount',
  'policies/trust-notices',
  'policy/analyse/words',
  'policy/fuzz/fuzz',
  'policy/generate/command',
  'readme',
  'sealing/anchors/git',
  'sealing/anchors/interop',
  'sealing/anchors/journal',
  'sealing/killed',
  'sealing/verify/gather',
  'sealing/redact/killed',
  'sealing/redact/killed-encrypted',
  'text/printable',
  'text/redact',
  'text/shell-parse',
  'tidy',
  'web-client/hostile',
  'web-client/live',
  'web-client/log',
  'web-client/pages',
];

/** It reads what all others proved, so it runs when they are done. */
const GATE = 'requirements';

export type Lane = 'pure' | 'real' | 'gate' | 'agents';

/** Test files by lane, as paths in the repository. */
export function testFiles(lane: Lane): string[] {
  return readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.test.ts') && laneOf(name) === lane)
    .map((name) => `test/${name}`)
    .sort();
}

/** The lane of a test file, named from `test/` on. */
export function laneOf(file: string): Lane {
  const name = file.replace(/\.test\.ts$/, '');
  if (name === GATE) return 'gate';
  if (name.startsWith('agents/')) return 'agents';
  const real = REAL_FOLDERS.includes(name.split('/')[0] ?? '');
  return (real ? !PURE_FILES.includes(name) : REAL_FILES.includes(name)) ? 'real' : 'pure';
}

/** What is wrong with a file of the real lane that started this many processes, if anything. */
export function laneComplaint(
  file: string,
  started: number,
  tasks: readonly Task[],
): string | undefined {
  if (started > 0 || !allRan(tasks)) return undefined;
  return `${file} starts no process, so it belongs into the pure lane: see test/lanes.ts.`;
}

/** A test or a group of them, with what vitest was told to do with it. */
type Task = Pick<RunnerTask, 'mode'> & { readonly tasks?: readonly Task[] };

function allRan(tasks: readonly Task[]): boolean {
  return tasks.every(({ mode, tasks = [] }) => mode === 'run' && allRan(tasks));
}
