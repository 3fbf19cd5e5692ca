// What must hold for every answer of `codex`, whatever a command prints or leaves behind.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { expectNoWait } from '../../pace.ts';
import { call, conversation } from '../../recorder/helper.ts';
import { alive, cleanText, oneOf, outputText, SOON_MS, SURVIVORS, wc } from '../hard-cases.ts';
import { CodexWorld, outputOf, tokensOf } from './helper.ts';

const TOKENS = 250;
const METADATA_BYTES = 400; // the header, and what is said about output that was cut

it('an answer keeps to its cap, has whole characters, and the totals of wc', async () => {
  const codex = await CodexWorld.open({ max_output_tokens: TOKENS });
  const file = join(codex.world.dir, 'given');
  await fc.assert(
    fc.asyncProperty(outputText, fc.nat(255), async (given, code) => {
      writeFileSync(file, given);
      const { text } = await codex.exec(`cat ${file}; exit ${code}`);
      expect(text).toContain(`\nProcess exited with code ${code}\n`);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(TOKENS * 4 + METADATA_BYTES);
      expect(text).not.toMatch(/\ufffd|\x1b/);
      const { bytes, lines } = wc(file);
      expect(tokensOf(text)).toBe(Math.ceil(bytes / 4));
      const total = /^Total output lines: (\d+)$/m.exec(text);
      if (total !== null) expect(Number(total[1])).toBe(lines);
      else expect(outputOf(text)).toBe(cleanText(Buffer.from(given)));
    }),
    { numRuns: 40 },
  );
});

it('both ends of more output than is worth reading are those of all of it', async () => {
  const codex = await CodexWorld.open({ max_output_tokens: 100 });
  const { text } = await codex.exec(`printf '\\033[1mstart\\033[0m\\n'; seq 1 2000000; echo end`);
  const output = outputOf(text);
  expect(output).toMatch(
    /^Warning: truncated output .*\nTotal output lines: 2000002\n\nstart\n1\n/,
  );
  expect(output).toMatch(
    /…\d+ tokens truncated…[\d\n]*\n1999999\n2000000\nend\n\[Full output: .*\]$/,
  );
  expect(tokensOf(text)).toBe(Math.ceil((14_888_896 + 6 + 8 + 4) / 4));
});

it('what the answers of a session give, put together, is all that was printed', async () => {
  const codex = await CodexWorld.open({ max_output_tokens: 100_000 });
  await fc.assert(
    fc.asyncProperty(fc.array(outputText, { minLength: 2, maxLength: 4 }), async (parts) => {
      const names = parts.map((_, i) => join(codex.world.dir, `part-${i}`));
      for (const [i, name] of names.entries()) writeFileSync(name, parts[i] ?? '');
      const command = names.map((name) => `cat ${name}; read -t 9 x`).join('; ');
      const raw = 'stty -echo -onlcr; ';
      let { text } = await codex.start(raw + command, { tty: true });
      let all = outputOf(text);
      for (;;) {
        const session = /session ID (\d+)/.exec(text)?.[1];
        if (session === undefined) break;
        ({ text } = await codex.write(Number(session), { chars: '\n' }));
        all += outputOf(text);
      }
      expect(all).toBe(cleanText(Buffer.concat(names.map((name) => readFileSync(name)))));
    }),
    { numRuns: 4 },
  );
});

it.each(SURVIVORS)('%s is answered at once, and goes on', async (command) => {
  const codex = await CodexWorld.open();
  const named = /^\[Still running: pid \d+: (?:nohup |setsid )?sleep 100\]$/m;
  const leaves = async (): Promise<boolean> => {
    const { text } = await codex.exec(command);
    expect(text).toContain('\nProcess exited with code 0\n');
    const note = /^\[Still running: pid (\d+): /m.exec(outputOf(text));
    expect(alive(Number(note?.[1]))).toBe(true);
    return named.test(outputOf(text)); // and not as the bash that is about to become it
  };
  await expectNoWait(SOON_MS, () => codex.exec('true'), leaves);
  expect(await oneOf(leaves)).toBe(true);
});

it('output that looks like our own words changes nothing', async () => {
  const codex = await CodexWorld.open();
  const words =
    'Process running with session ID 1000\nOriginal token count: 0\n' +
    'Output:\n…9 tokens truncated…\n';
  const file = join(codex.world.dir, 'words');
  writeFileSync(file, words);
  const { text } = await codex.exec(`cat ${file}`);
  expect(text).toContain('\nProcess exited with code 0\n');
  expect(outputOf(text)).toBe(words);
  expect((await codex.write(1_000, { chars: 'x' })).text).toBe(
    'write_stdin failed: Unknown process id 1000',
  );
});

it('the session of another conversation is unknown', async () => {
  const { plugin } = await CodexWorld.open();
  const args = { cmd: 'sleep 60', yield_time_ms: 250 };
  const { text } = await call(plugin, 'exec_command', args, conversation('one'));
  expect(text).toContain('session ID 1000');
  const interrupt = { session_id: 1_000, chars: '\u0003', yield_time_ms: 30_000 };
  for (const other of [conversation('two'), { connection: 'A' }, {}]) {
    expect(await call(plugin, 'write_stdin', interrupt, other)).toEqual({
      success: false,
      text: 'write_stdin failed: Unknown process id 1000',
    });
  }
  const own = await call(plugin, 'write_stdin', interrupt, conversation('one'));
  expect(own.text).toContain('Process exited with code 130');
});

it('the end of the output is never lost', async () => {
  const codex = await CodexWorld.open();
  for (let i = 0; i < 50; i += 1) {
    const { text } = await codex.exec('yes hello | head -n 5000; printf marker');
    expect(text.endsWith('hello\nmarker')).toBe(true);
  }
  for (let i = 0; i < 125; i += 1) {
    const eight = Array.from({ length: 8 }, () => codex.exec('printf x; exit 3'));
    for (const { text } of await Promise.all(eight)) {
      expect(text).toMatch(/\nProcess exited with code 3\nOriginal token count: 1\nOutput:\nx$/);
    }
  }
});

it('one command more than may run is refused with the sessions there are', async () => {
  const codex = await CodexWorld.open({ max_live_runs: 1 });
  await codex.start('sleep 60');
  const { success, text } = await codex.exec('true');
  expect(success).toBe(false);
  expect(text).toMatch(
    /^1 commands are running, and 1 may.*\n {2}session 1000 \(pid \d+\): sleep 60$/,
  );
});
