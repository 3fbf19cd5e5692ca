// `cuff record leaks`: finds secrets wherever they were recorded, and shows none of them.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { binary, type Result } from '../cli/helper.ts';
import { ENCODINGS, planted } from '../text/secrets/planted.ts';
import { Journal } from './helper.ts';

let journal: Journal;
beforeEach(() => {
  journal = new Journal();
});
afterEach(() => journal.close());

const SESSION = '20260118_143052_a7b3c9d2-e4f5';
const TOKEN = 'correct-horse/battery+staple';

type LeakJson = {
  readonly kind: string;
  readonly variable: string | null;
  readonly mark: string;
  readonly part: string;
  readonly sequence_number: number | null;
  readonly session_id: string | null;
  readonly run_id: string | null;
  readonly command: string;
  readonly count: number;
  readonly kept: readonly string[];
};
type ReportJson = {
  readonly commands: number;
  readonly captures: number;
  readonly leaks: readonly LeakJson[];
};

async function leaks(args: readonly string[] = [], env: readonly string[] = []): Promise<Result> {
  const { child, result } = journal.start(['leaks', ...args], journal.project, env);
  child.stdin?.end();
  return result;
}

async function report(env: readonly string[] = []): Promise<ReportJson & { readonly all: string }> {
  const { out, err, code } = await leaks(['--json'], env);
  expect({ code: out.includes('"kind"') ? 1 : 0, err }).toEqual({ code, err: '' });
  return { ...JSON.parse(out), all: out };
}

describe('a report', () => {
  it('has every kind of secret in every encoding, and shows none of them', async () => {
    const all = ENCODINGS.flatMap(([encoding, encode], at) =>
      planted(`leaks ${at}`).map((one) => ({ ...one, encoding, shown: encode(one.text) })),
    );
    journal.add(SESSION, {
      entries: all.map(({ shown }, at) =>
        at % 3 === 0 ? { command: `echo "${shown}"` } : { command: 'x', stdout: `\n${shown}\n` },
      ),
    });
    const found = await report();
    const missed = all.filter(
      ({ kind }, at) =>
        !found.leaks.some((one) => one.sequence_number === at + 1 && one.kind === kind),
    );
    // A secret in two shapes is named by one of them: basic authorization inside of base64.
    expect(missed.length).toBeLessThanOrEqual(all.length * 0.05);
    expect(new Set(found.leaks.map((one) => one.sequence_number)).size).toBe(all.length);
    const words = await leaks();
    for (const { secret, shown } of all) {
      const body = secret.split('\n')[1] ?? secret;
      for (const text of [found.all, words.out, words.err]) {
        expect(text).not.toContain(JSON.stringify(body).slice(1, -1));
        if (shown.length > 20) expect(text).not.toContain(shown.slice(4, -4));
      }
    }
  });

  it('says which run, when and where, as a person reads it', async () => {
    const [key] = planted('one');
    journal.add(SESSION, {
      entries: [
        { command: 'git status', stdout: 'clean' },
        {
          command: `deploy --key ${key?.text}\u001b[31m`,
          agent_id: 'claude-code',
          stderr: `${TOKEN} ${TOKEN}`,
        },
      ],
    });
    const { out, err, code } = await leaks([], [`MY_TOKEN=${TOKEN}`]);
    expect({ err, code }).toEqual({ err: '', code: 1 });
    expect(
      out.replace(/\[[0-9a-f]{8}\]/g, '[MARK]'),
    ).toBe(`2 secrets in 1 run, of 2 commands and 0 captures

aws-access-key [MARK]  in the command
  deploy --key [aws-access-key]\\x1b[31m
  2026-01-18 14:30  ${SESSION} #2  claude-code  journal
  cuff redact ${SESSION} 2 --parts text --why 'a leaked aws-access-key'

value of MY_TOKEN [MARK]  printed on stderr, 2 times
  deploy --key [aws-access-key]\\x1b[31m
  2026-01-18 14:30  ${SESSION} #2  claude-code  journal
  printenv MY_TOKEN | cuff redact --secret -

Lines with the same [mark] are about the same secret. Change it where it was issued.
To take out a value alone, wherever it was recorded: cuff redact --secret -
`);
  });

  it('is short where nothing is found, and exits with 0', async () => {
    journal.add(SESSION, { entries: [{ command: 'git status', stdout: 'clean' }] });
    const { out, err, code } = await leaks();
    expect({ out, err, code }).toEqual({
      out: 'No secrets found in 1 command and 0 captures.\n',
      err: '',
      code: 0,
    });
  });

  it('leaves out what is older', async () => {
    const [key] = planted('one');
    journal.add(SESSION, { entries: [{ command: `echo ${key?.text}` }] });
    expect((await leaks(['--since', '2026-01-19'])).code).toBe(0);
    expect((await leaks(['--since', '2026-01-18'])).code).toBe(1);
    expect((await leaks(['--since', 'yesterday'])).code).toBe(2);
  });
});

describe('what really ran', () => {
  const run = (args: readonly string[], script: string): void => {
    const env = { ...journal.cli.env, ...journal.env, MY_TOKEN: TOKEN };
    execFileSync(process.execPath, [binary('cuff'), 'run', ...args, '--', 'sh', '-c', script], {
      cwd: journal.project,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 64 * 1024 * 1024,
    });
  };

  it('is found once, in the journal and in its capture', async () => {
    run(['--journal', '--no-tty'], 'printenv MY_TOKEN; printenv MY_TOKEN | base64 >&2');
    const { leaks: found } = await report([`MY_TOKEN=${TOKEN}`]);
    const facts = found.map(({ variable, part, kept, sequence_number, count }) => {
      return { variable, part, kept, sequence_number, count };
    });
    const same = {
      variable: 'MY_TOKEN',
      kept: ['journal', 'capture'],
      sequence_number: 1,
      count: 1,
    };
    expect(facts).toEqual([
      { ...same, part: 'stdout' },
      { ...same, part: 'stderr' },
    ]);
    expect(new Set(found.map(({ mark }) => mark)).size).toBe(1);
    expect(found.map(({ run_id }) => run_id)).toEqual([expect.any(String), expect.any(String)]);
  });

  it('is found behind megabytes of output, which no entry has', async () => {
    const [key] = planted('large');
    const path = journal.path('large.txt');
    writeFileSync(
      path,
      `${'all is well\n'.repeat(300_000)}${key?.text}\n${'on it goes\n'.repeat(99_000)}`,
    );
    run(['--journal', '--no-tty'], `cat '${path}'`);
    const { leaks: found } = await report();
    expect(found.map(({ kind, kept }) => ({ kind, kept }))).toEqual([
      { kind: 'aws-access-key', kept: ['capture'] },
    ]);
  });

  it('is found without a journal, too', async () => {
    run(['--no-tty'], 'printenv MY_TOKEN');
    journal.add(SESSION, { entries: [{ command: 'true' }] });
    const { leaks: found } = await report([`MY_TOKEN=${TOKEN}`]);
    expect(found.map(({ session_id, kept }) => ({ session_id, kept }))).toEqual([
      { session_id: null, kept: ['capture'] },
    ]);
  });
});
