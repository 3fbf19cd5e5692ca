// Which argument is meant by a name that a tool does not have.
import { expect, it } from 'vitest';
import { meantName, withNumbers, withoutForeign } from '../../src/dialects/arguments.ts';

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

it('arguments of other shells are left out, and said where they would have meant something', () => {
  const foreign = ['dangerouslyDisableSandbox', 'justification'];
  const args = { command: 'ls', dangerouslyDisableSandbox: true, justification: null };
  expect(withoutForeign(args, foreign)).toEqual({
    args: { command: 'ls' },
    notes: ['[ignored, it has no meaning here: dangerouslyDisableSandbox]'],
  });
  const unset = { command: 'ls', dangerouslyDisableSandbox: false };
  expect(withoutForeign(unset, foreign)).toEqual({ args: { command: 'ls' }, notes: [] });
});

it('a whole number that was sent as a text is the number, and no other text is', () => {
  const properties = { timeout: { type: 'number' }, command: { type: 'string' } };
  const tool = { name: 'Bash', description: '', parameters: { type: 'object', properties } };
  const taken = (timeout: string) => withNumbers(tool, { timeout, command: '7' });
  expect(taken('5000')).toEqual({ timeout: 5_000, command: '7' });
  for (const text of ['', 'soon', '-1', '1.5', '1e3', ' 5', '9'.repeat(16)]) {
    expect(taken(text)).toEqual({ timeout: text, command: '7' });
  }
});
