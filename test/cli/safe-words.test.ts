// What programs say about wrong arguments cannot speak to the terminal.
import { afterAll, expect, it } from 'vitest';
import { Cli } from './helper.ts';

const cli = new Cli();
afterAll(() => cli.close());

const EVIL = 'x\x1b]0;title\x07\x1b[31m\u009b2J\r\nerror: forged';
/** The runner shows a question mark for each. */
const REPLACED = 'x?]0;title??[31m\\x9b2J??error: forged';
const SHOWN = 'x\\x1b]0;title\\x07\\x1b[31m\\x9b2J\\r\\nerror: forged';

it.each([
  [[EVIL]],
  [['ls', '--state', EVIL]],
  [['ls', `--state=${EVIL}`]],
  [['cat', EVIL]],
  [['trace', EVIL]],
  [['kill', 'a', '--grace', EVIL]],
  [['run', `--${EVIL}`]],
  [['run', '--cwd', `/none/${EVIL}`, '--', 'true']],
  [['run', '--', `/none/${EVIL}`]],
  [['mcp', '--http', EVIL]],
  [['mcp', '--dialect', EVIL]],
  [['init', '--client', EVIL]],
  [['trust', `/none/${EVIL}`]],
  [['record', 'list', '--since', EVIL]],
  [['record', 'export', EVIL]],
  [['policy', 'check', `--${EVIL}`]],
  [['policy', 'lint', `/none/${EVIL}`]],
])('cuff %j', async (args) => {
  const { code, err } = await cli.cuff(...args);
  expect(code).not.toBe(0);
  expect(err.replace(REPLACED, SHOWN)).toContain(SHOWN);
  expect(err).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
  expect(err).not.toMatch(/^error: forged/m);
});
