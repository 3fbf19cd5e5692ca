// Somebody who waits for a long command hears from it: the last line it printed, without secrets
// and without anything a terminal would obey.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { executeWith, World } from './helper.ts';

/** Runs until somebody was told `wanted`; everything that was told. */
async function told(world: World, prints: string, wanted: string, config = {}): Promise<string[]> {
  const recorder = await world.recorder(config, { heartbeatMs: 10 });
  const go = join(world.dir, 'go');
  const messages: string[] = [];
  const progress = (message: string): void => {
    messages.push(message.replace(/^\d+s/, '0s'));
    if (messages.includes(wanted)) fs.writeFileSync(go, '');
  };
  const command = `${prints}; while ! test -e ${go}; do sleep 0.02; done`;
  await executeWith(recorder, command, progress);
  await recorder.close();
  return messages;
}

it('the last line is told while a command runs', async () => {
  const command = 'echo first; printf "\\033[1mlast\\033[0m %s\\n\\n" line';
  const wanted = '0s: \\x1b[1mlast\\x1b[0m line';
  expect(await told(new World(), command, wanted)).toContain(wanted);
});

it('a command without output is told about, too', async () => {
  expect(await told(new World(), 'true', '0s, no output yet')).toContain('0s, no output yet');
});

it('no secret is told', async () => {
  const env = { PATH: process.env.PATH, MY_TOKEN: 'hunter2-hunter2' };
  const wanted = '0s: it is [REDACTED:MY_TOKEN]';
  const messages = await told(new World({ env }), 'echo it is $MY_TOKEN', wanted);
  expect(messages.join()).not.toContain('hunter2');
});

it('output that is in no file is told about all the same', async () => {
  const config = { recording: { capture_output: false } };
  expect(await told(new World(), 'echo hidden', '0s: hidden', config)).toContain('0s: hidden');
});
