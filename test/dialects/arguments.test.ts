// Which argument is meant by a name that a tool does not have.
import { expect, it } from 'vitest';
import { meantName } from '../../src/dialects/arguments.ts';

const RUN = ['command', 'cwd', 'env', 'wait_ms', 'kill_after_ms', 'max_bytes', 'stdin'];
const EXEC = ['cmd', 'workdir', 'shell', 'login', 'tty', 'yield_time_ms', 'max_output_tokens'];
const BASH = ['command', 'timeout', 'description', 'run_in_background'];

it.each<[string, readonly string[], string | undefined]>([
  ['cmd', RUN, 'command'],
  ['comand', RUN, 'command'],
  ['workdir', RUN, 'cwd'],
  ['working_directory', RUN, 'cwd'],
  ['WAIT_MS', RUN, 'wait_ms'],
  ['waitMs', RUN, 'wait_ms'],
  ['wait', RUN, 'wait_ms'],
  ['input', RUN, 'stdin'],
  ['max_output', RUN, 'max_bytes'],
  ['command', EXEC, 'cmd'],
  ['cwd', EXEC, 'workdir'],
  ['timeout_ms', EXEC, 'yield_time_ms'],
  ['background', BASH, 'run_in_background'],
  ['runInBackground', BASH, 'run_in_background'],
  ['timeout_ms', BASH, 'timeout'],
  ['shell_id', ['bash_id', 'filter'], 'bash_id'],
  ['id', ['task_id', 'block', 'timeout'], 'task_id'],
  ['ms', RUN, undefined], // two have it: neither is nearer
  ['colour', RUN, undefined],
  ['__proto__', RUN, undefined],
  ['', RUN, undefined],
])('%s of %j is %s', (word, known, meant) => {
  expect(meantName(word, known)).toBe(meant);
});
