// What is known of turbo, nx and lerna: they run the tasks of a project by their names. What is not
// a command of theirs is a task, so that the commands which do something else are all named here.

import type { Profile } from '../profile.ts';
import { CONFIG, EXEC, each, NET, type Profiles } from './common.ts';

const HELP = '-h,--help -v,--version --no-color --color';
// Which files, is among words that are not known here.
const WRITE: Profile = { kind: 'write', style: 'none', operands: 'delete*' };
const DELETE: Profile = { kind: 'delete', style: 'none', operands: 'delete*' };

const TASKS = `--filter,-F:word --only --force --no-cache --parallel --concurrency:word --continue
  --dry-run?word --dry?word --graph?write --output-logs:word --log-order:word --summarize
  --verbosity:int --cwd:exec --cache-dir:write --cache:word --remote-only --token:net --team:net
  --api:net --affected -p,--projects:word -t,--target,--targets:word --configuration,-c:word --all
  --exclude:word --base:rev --head:rev --skip-nx-cache --nxBail --verbose --outputStyle:word
  --scope:word --since:rev --stream --no-bail --concurrency:int --env-mode:word --ui:word ${HELP}`;
const task = (operands: string): Profile => ({
  kind: 'exec',
  style: 'exact',
  options: TASKS,
  operands,
  behindDashes: 'word',
});

function runner(more: Profiles): Profile {
  return {
    ...task('script*'),
    deeds: { 'published 3': 'publish; release' },
    subcommands: {
      run: task('script*'),
      ...each('run-many affected', task('word*')),
      ...each('list ls show', { ...task('word*'), kind: 'read' }),
      exec: EXEC,
      graph: WRITE,
      ...each('generate gen g migrate', EXEC),
      ...each('reset prune clean', DELETE),
      publish: NET,
      version: WRITE,
      ...each('login logout link unlink telemetry daemon', CONFIG),
      ...more,
    },
  };
}

export const TASK_RUNNERS: Profiles = {
  turbo: runner({
    ...each('scan config', CONFIG),
    boundaries: WRITE,
    query: NET,
    ...each('info docs bin', { kind: 'read', style: 'exact', options: HELP }),
  }),
  nx: runner({
    // Behind `--` stands a command line.
    ...each('watch record', EXEC),
    ...each('add import init new connect connect-to-nx-cloud import-project dlx', EXEC),
    ...each('release start-ci-run stop-all-agents fix-ci view-logs', NET),
    ...each('repair sync configure-ai-agents mcp register activate-powerpack', CONFIG),
    ...each('format format:write', WRITE),
    report: { kind: 'read', style: 'exact', options: HELP },
  }),
  lerna: runner({
    watch: EXEC,
    ...each('import add bootstrap init create repair', EXEC),
    ...each('changed diff info', { ...task('word*'), kind: 'read' }),
  }),
};
