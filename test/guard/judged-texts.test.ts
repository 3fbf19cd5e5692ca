// What comes with a command, as texts that do the same.
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readerOf } from '../../src/guard/input-reader.ts';
import { judgedTexts, onlyInterrupts, type Reader } from '../../src/guard/judged-texts.ts';
import { workOf } from '../pace.ts';

const bash = (text: string) => spawnSync('bash', ['-c', text], { encoding: 'utf8' }).stdout;

describe('what is judged', () => {
  it('is the command alone when nothing comes with it', () => {
    expect(judgedTexts({ command: 'a b' })).toEqual(['a b']);
    expect(judgedTexts({ command: 'a b', env: {}, shell: '/bin/bash' })).toEqual(['a b']);
    expect(judgedTexts({ command: 'a b', settingsShell: 'bash' })).toEqual(['a b']);
  });

  it('always has the command itself in it', () => {
    const texts = fc.string();
    const options = fc.record(
      {
        env: fc.dictionary(texts, texts),
        stdin: texts,
        shell: texts,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(texts, options, (command, beside) => {
        expect(judgedTexts({ command, ...beside })[0]).toBe(command);
      }),
    );
  });

  it('does to bash what the command with its variables and its input does', () => {
    const value = `a'b"c$HOME\\ \`x\`\nd`;
    const [, variables = ''] = judgedTexts({ command: 'printf %s "$A"', env: { A: value } });
    expect(bash(variables)).toBe(value);
    const input = `one 'two' $three \`four\`\nCUFF_INPUT\n\\five`;
    const [, fed = ''] = judgedTexts({ command: 'cat # all of it', stdin: input });
    expect(bash(fed)).toBe(`${input}\n`);
    const [, other = ''] = judgedTexts({ command: `echo "it's"`, shell: '/bin/bash5' });
    expect(bash(other.replace('/bin/bash5', 'bash'))).toBe("it's\n");
  });

  it('is a script for every shell that is not bash, whoever chose it', () => {
    for (const shell of ['sh', '/bin/dash', 'rbash', './bash', 'zsh']) {
      expect(judgedTexts({ command: 'a b', shell })).toEqual(['a b', `${shell} -c 'a b'`]);
    }
    expect(judgedTexts({ command: 'a', settingsShell: 'sh' })).toEqual(['a', "sh -c 'a'"]);
  });

  it('takes its time for nothing that is too large to be judged', () => {
    const marks = `CUFF_INPUT${'_'.repeat(60_000)}`;
    const work = workOf(() => {
      for (const command of ['/sh -'.repeat(200_000), 'cat', '('.repeat(70_000)]) {
        for (const stdin of ['', marks, '/sh -'.repeat(200_000)]) {
          judgedTexts({ command, stdin, tty: true, reader: readerOf(command) });
          judgedTexts({ command: stdin, typed: { into: command, before: '' } });
        }
      }
    });
    expect(work).toBeLessThan(260);
  });
});

const unseen = (name: string) => `"$keys_typed_into_${name}"; eval "$keys_typed_into_${name}"`;

const BASH: Reader = { kind: 'shell', shell: 'bash' };

describe('what is judged of keys', () => {
  const typed = (keys: string, before = '', reader: Reader = BASH) =>
    judgedTexts({ command: keys, typed: { into: 'x', before }, reader });
  const UNSEEN = unseen('bash');

  it('is all that was typed, from the start', () => {
    expect(typed('uch x\r', 'to')).toEqual(['touch x\n']);
    expect(typed('\u0003', 'to')).toEqual(['to']);
    expect(typed('uch\u007fx', 'to')).toEqual(['touch\u007fx', UNSEEN]);
    expect(typed('uch \u00e9', 'to')).toEqual(['touch \u00e9', UNSEEN]);
  });

  it('is also what is left when an interrupt throws away what was before it', () => {
    expect(typed('touch x\n', 'echo \u0003')).toEqual(['echo touch x\n', 'touch x\n']);
    expect(typed("touch x\n'", "echo '\n\u0004")).toEqual(["echo '\ntouch x\n'", "touch x\n'"]);
    expect(typed('a\u0003'.repeat(9))).toContain(UNSEEN);
  });

  it.each([
    ['echo !:1:t:r\n', true],
    ['!!\n', true],
    ['^echo^touch\n', true],
    ['echo "!x"\n', true],
    ["echo 'it is !x'\n", false],
    ["echo 'a\n!x b'\n", true],
    ['echo "it\'s" !x \'\n', true],
    ["echo a # it's\necho !x '\n", true],
    ["histchars='@^#'\n", true],
    ['echo a^b\n', false],
  ])('%j may be what history makes of it: %s', (keys, may) => {
    expect(typed(keys).includes(UNSEEN)).toBe(may);
  });

  it('is the script of another shell, and nothing for programs that only read', () => {
    expect(typed('a\n', '', { kind: 'shell', shell: 'sh' })).toEqual(["sh -c 'a\n'"]);
    expect(typed('!touch x\n', '', { kind: 'text' })).toEqual(['']);
    const less: Reader = { kind: 'other', name: 'less', shells: [] };
    expect(typed('q', '', less)).toEqual([unseen('less')]);
  });

  it('goes for the input of a terminal as well', () => {
    const reader: Reader = { kind: 'other', name: 'git', shells: [] };
    const asked = { command: 'git log', stdin: '\n!x\nq', reader };
    expect(judgedTexts({ ...asked, tty: true })).toContain(unseen('git'));
    expect(judgedTexts(asked)).not.toContain(unseen('git'));
  });
});

it.each([
  ['bash', 'bash'],
  ['b\\ash', 'bash'],
  ["'ba'sh -i", 'bash'],
  ['/bin/bash --norc; echo done', 'bash'],
  ['exec /bin/sh', 'sh'],
  ['env -i bash --norc', 'bash'],
  ['exec /bin/zsh -i', 'zsh'],
  ['cat', 'text'],
  ['while read -r x; do echo "$x" | wc -c; done', 'text'],
  ["bash -c 'cat'", 'text'],
  ['cat | sh', 'other sh'],
  ['bash < x', 'other bash'],
  ['bash x.sh', 'other bash'],
  ['bash; sh', 'other bash sh'],
  ['sudo -s', 'other'],
  ['$SHELL', 'other'],
  ['ssh host', 'other'],
  ['./cat', 'other'],
  ['cat() { bash; }; cat', 'other bash'],
  ['less f.txt', 'other'],
  ['git log', 'other'],
  ['node', 'other'],
  ['cat | tee f', 'other'],
  ['cat > >(bash)', 'other bash'],
  ["cat '", 'other'],
  ['read x; bash', 'other bash'],
  ['head -n 1; bash', 'other bash'],
  ['cat f.txt; bash', 'bash'],
])('the input of %s is for %s', (command, kind) => {
  const reader = readerOf(command);
  const { shells } = reader.kind === 'other' ? reader : { shells: [] };
  const told = reader.kind === 'shell' ? reader.shell : [reader.kind, ...shells].join(' ');
  expect(told).toBe(kind);
});

it('the input of a command that no bash reads is for that shell, or for nobody knows what', () => {
  expect(readerOf('cat', '/bin/sh')).toEqual({ kind: 'text' });
  expect(readerOf('echo a &>/dev/null cat', 'sh')).toMatchObject({ kind: 'other' });
  expect(readerOf('cat', 'python3')).toMatchObject({ kind: 'other', name: 'python3' });
});

it.each([
  ['\u0003', true],
  ['\u0003\u0004', true],
  ['', false],
  ['\u0003a', false],
  ['\r', false],
])('%j only interrupts: %s', (keys, only) => {
  expect(onlyInterrupts(keys)).toBe(only);
});

it.each([
  ['read x\n', false],
  ["read x\n: <<'E'\na\nE\n", true],
  ["read -n 6 x\recho 'a'\r", true],
  ["read x\n\u0003echo 'a'\n", true],
  ['(sleep 1; timeout 9 head -c 2)\n# a\n', true],
  ['head -n 1 </dev/tty\na\n', true],
  ['cat f /dev/stdin\na\n', true],
  ['read x <&2\na\n', true],
  ['read -u 2 x <f\na\n', true],
  ['grep a\na\n', true],
  ['sh\na\n', true],
  ['select x in a; do echo; done\na\n', true],
  ['python3\na\n', true],
  ['bash\nls\n', false],
  ['cat f\nhead -n 1 f\ngrep a f\nread x <f\n', false],
  ["echo a | wc -l\necho 'a\nb'\ngit log\nls\n", false],
])('a shell shares the keys %j with what it runs: %s', (keys, shares) => {
  expect(readerOf('bash', 'bash', keys).kind).toBe(shares ? 'other' : 'shell');
});
