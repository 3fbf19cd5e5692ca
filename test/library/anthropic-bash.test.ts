// The persistent shell of `bash_20250124`: what one command leaves to the next, and what it cannot.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type AnthropicBashOptions, createAnthropicBash } from '../../src/index.ts';
import { alive } from '../cli/helper.ts';
import { withTime } from '../pace.ts';
import { lacking } from '../requirements.ts';
import { closing, home } from './home.ts';

const otherBash = lacking(process.platform !== 'linux', 'bash may be older than 4.4 here');

function bash(options: AnthropicBashOptions = {}) {
  const { dir, options: house } = home();
  const tool = closing(createAnthropicBash({ ...house, ...options }));
  const sh = async (command: string): Promise<string> => (await tool.call({ command })).text;
  return { dir, tool, sh };
}

describe.skipIf(otherBash)('a persistent shell', () => {
  it('keeps directory, variables, functions, aliases, options and umask', async () => {
    const { dir, sh } = bash();
    mkdirSync(join(dir, 'a b'));
    await sh(`cd 'a b'; x=1; export y=$'two\\nlines'; list=(1 "2 3" 4); declare -A map=([k]="v w")
readonly fixed=9; declare -i n=3; ref=; declare -n ref=x
greet() { echo "hello $1"; }
alias shout='echo LOUD'
set -u -o pipefail; shopt -s extglob nullglob; umask 027; unset HOME; pushd / >/dev/null`);
    expect(await sh('pwd; popd')).toBe(`/\n${dir}/a b\n`);
    const seen = await sh(`pwd; echo "$x|$y|\${list[1]}|\${#list[@]}|\${map[k]}|$fixed|$ref"
n=n+4; echo $n; greet you; shout; umask; echo \${HOME-none}; bash -c 'echo "[$y]\${x-}"'
shopt extglob nullglob; [[ -o nounset && -o pipefail ]] && echo options`);
    expect(seen).toBe(`${dir}/a b
1|two\nlines|2 3|3|v w|9|1
7
hello you
LOUD
0027
none
[two\nlines]
extglob        \ton
nullglob       \ton
options
`);
  });

  it('has no end of a variable that it does not keep', async () => {
    const { sh } = bash();
    const text = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((s) => !s.includes('\0'));
    await fc.assert(
      fc.asyncProperty(text, async (value) => {
        const quoted = `'${value.replaceAll("'", `'\\''`)}'`;
        await sh(`v=${quoted}`);
        const shown = await sh('printf %s "$v" | od -An -v -tx1 | tr -d " \\n"');
        expect(shown.replace('[no output]', '')).toBe(Buffer.from(value).toString('hex'));
      }),
      { numRuns: 25 },
    );
  });

  it('a command runs as `bash -c` runs it, and its status is its own', async () => {
    const { sh } = bash();
    expect(await sh('echo a; exit 3')).toBe('a\n[exit code 3]');
    expect(await sh('echo $0 $# $LINENO')).toBe('/bin/bash 0 1\n');
    expect(await sh('no-such-program')).toBe(
      '/bin/bash: line 1: no-such-program: command not found\n[exit code 127]',
    );
    expect(await sh('echo "unclosed')).toMatch(
      /^\/bin\/bash: -c: line 1: unexpected EOF while looking for.*\n.*\n?\[exit code 2\]$/,
    );
    expect(await sh("cat <<'END'\nit's $x \"quoted\"\nEND")).toBe('it\'s $x "quoted"\n');
    expect(await sh('kill -KILL $$')).toBe('[ended by SIGKILL]');
    expect(await sh('true')).toBe('[no output]');
    expect(await sh('echo out; echo err >&2; echo out')).toBe('out\nerr\nout\n');
  });

  it('keeps what a command with `exit`, `set -e` or a syntax error had done', async () => {
    const { sh } = bash();
    await sh('a=1; exit 4');
    expect(await sh('set -e; b=2; false; b=3')).toBe('[exit code 1]');
    expect(await sh('echo $a $b; [[ -o errexit ]] && echo errexit; set +e')).toBe('1 2\nerrexit\n');
    await sh('if');
    await sh('readonly c=3');
    expect(await sh('c=4; echo no')).toBe('/bin/bash: line 1: c: readonly variable\n[exit code 1]');
    expect(await sh('echo $a $b $c')).toBe('1 2 3\n');
  });

  it('runs the EXIT trap of a command at its end, and keeps the state', async () => {
    const { sh } = bash();
    expect(await sh("set -e; trap 'echo bye $?' EXIT; x=1; exit 5")).toBe('bye 5\n[exit code 5]');
    expect(await sh("trap -p; trap 'echo other; exit 6' EXIT; y=2; trap -p EXIT; exit 5")).toBe(
      "trap -- 'echo other; exit 6' EXIT\nother\n[exit code 6]",
    );
    expect(
      await sh("echo $x $y; (trap 'echo sub' EXIT; z=3); trap 'echo no' EXIT; trap - EXIT"),
    ).toBe('1 2\nsub\n');
    expect(await sh(`echo $x $y \${z-none}; trap 'echo term' TERM; kill $$`)).toBe(
      '1 2 none\nterm\n',
    );
  });

  it('shows nothing of itself, traced or not', async () => {
    const { sh } = bash();
    expect(await sh('set -x; true')).toBe('+ true\n');
    expect(await sh('x=1')).toBe('+ x=1\n');
    await sh('set +x');
    expect(await sh('declare -F; compgen -e | grep BASH_ENV; env | grep -c cuff-shell')).toBe(
      'declare -f __cuff_save\ndeclare -f trap\n0\n[exit code 1]',
    );
  });

  it('no output changes it, whatever it says', async () => {
    const { sh } = bash();
    await sh('x=1');
    await sh('echo " # whole"; echo "[exit code 7]"; printf "x=2\\n# whole\\n" >&2');
    expect(await sh('echo $x; printf "[timed out after 1s]"')).toBe('1\n[timed out after 1s]');
  });
});

describe.skipIf(otherBash)('a persistent shell whose command', () => {
  it('takes too long has its output, and is as it was before', async () => {
    const attempt = async (timeoutMs: number) => {
      const { tool, sh } = bash({ timeoutMs });
      await sh('x=1');
      const answer = await tool.call({ command: 'x=2; cd /; echo so far; sleep 100' });
      return { sh, answer, seconds: timeoutMs / 1000 };
    };
    const far = ({ answer }: { answer: { text: string } }) => answer.text.startsWith('so far');
    const { sh, answer, seconds } = await withTime(3_000, attempt, far);
    expect(answer).toEqual({
      text: `so far\n[timed out after ${seconds}s; every process of it was ended]`,
      isError: true,
    });
    expect(await sh('echo $x; [ "$PWD" = / ] || echo elsewhere')).toBe('1\nelsewhere\n');
  });

  it('is cancelled leaves it as it was before', async () => {
    const { tool, dir, sh } = bash();
    await sh('x=1');
    const controller = new AbortController();
    const call = tool.call({ command: 'x=2; touch on; sleep 100' }, { signal: controller.signal });
    while (!existsSync(join(dir, 'on'))) await new Promise((next) => setTimeout(next, 5));
    controller.abort();
    expect(await call).toEqual({ text: '[ended: cancelled]', isError: true });
    expect(await sh('echo $x')).toBe('1\n');
  });

  it('leaves a process behind answers at once and names it; it survives', async () => {
    const { sh } = bash();
    // It is named as what it is by then: still a bash for a moment.
    const become = 'until grep -q ^sleep /proc/$!/cmdline; do :; done';
    const text = await sh(`sleep 100 & ${become}; echo $!`);
    const [pid = '', line] = text.split('\n');
    expect(line).toBe(`[still running: ${pid} sleep 100]`);
    await sh('true');
    expect(alive(Number(pid))).toBe(true);
  });

  it('removes its own directory goes on in the first one, and says so', async () => {
    const { dir, sh } = bash();
    mkdirSync(join(dir, 'sub'));
    await sh('cd sub; x=1');
    rmdirSync(join(dir, 'sub'));
    expect(await sh('pwd; echo $x')).toBe(
      `${dir}\n1\n[${dir}/sub is gone; this command ran in ${dir}]`,
    );
  });

  it('goes where the name is no text is found there again', async () => {
    const { sh } = bash();
    await sh("mkdir $'\\xff'; cd $'\\xff'");
    expect(await sh(`printf %s "\${PWD##*/}" | od -An -tx1`)).toBe(' ff\n');
  });

  it('calls exec keeps the state before it', async () => {
    const { sh } = bash();
    await sh('x=1');
    expect(await sh('x=2; exec echo gone')).toBe(
      'gone\n[what this command changed in the shell was not kept]',
    );
    expect(await sh('echo $x')).toBe('1\n');
  });

  it('waits for its turn when the tool is closed does not run', async () => {
    const { dir, tool } = bash();
    const calls = [
      tool.call({ command: 'touch on; sleep 100' }),
      tool.call({ command: 'touch off' }),
    ];
    while (!existsSync(join(dir, 'on'))) await new Promise((next) => setTimeout(next, 5));
    await tool.close();
    expect((await Promise.all(calls)).map(({ isError }) => isError)).toEqual([true, true]);
    expect(existsSync(join(dir, 'off'))).toBe(false);
  });

  it('comes together with others runs after them', async () => {
    const { sh } = bash();
    const many = Array.from({ length: 8 }, (_, index) =>
      sh(`n=$((\${n-0} + 1)); echo ${index}:$n`),
    );
    expect(await Promise.all(many)).toEqual(many.map((_, index) => `${index}:${index + 1}\n`));
  });
});

describe.skipIf(otherBash)('the tool', () => {
  it('forgets everything with restart, also together with a command', async () => {
    const { tool, sh } = bash();
    await sh('x=1; cd /');
    expect(await tool.call({ restart: true })).toEqual({
      text: 'The shell was restarted.',
      isError: false,
    });
    expect(await sh(`echo "\${x-none}"; [ "$PWD" != / ] && echo back`)).toBe('none\nback\n');
    await sh('x=1');
    expect((await tool.call({ restart: true, command: `echo "\${x-none}"` })).text).toBe('none\n');
  });

  it('refuses a call without a command in a sentence', async () => {
    const { tool } = bash();
    const text = 'command is required: the bash command to run.';
    for (const input of [{}, { command: ' ' }, { command: 3 }, { restart: 'yes' }]) {
      expect(await tool.call(input)).toEqual({ text, isError: true });
    }
  });

  it('never shows more than its cap and says where the rest is', async () => {
    const { sh } = bash({ outputBytesMax: 1_000 });
    const text = await sh('seq 1 100000');
    expect(text.length).toBeLessThan(1_300);
    expect(text).toMatch(/^1\n2\n/);
    expect(text).toMatch(/\n99999\n100000\n$/);
    expect(text).toMatch(/\n\[\d+ bytes left out, lines \d+-\d+\. All output: \/.*output\.bin\]\n/);
  });

  it('keeps its state in files of the user alone, and removes them', async () => {
    const { dir: home, tool, sh } = bash();
    vi.stubEnv('TMPDIR', home);
    onTestFinished(() => void vi.unstubAllEnvs());
    await sh('umask 000; export SECRET=1');
    const made = readdirSync(home).filter((name) => name.startsWith('cuff-shell-'));
    const dir = join(home, made[0] ?? '');
    expect(await sh(`umask 000; stat -c %a ${dir} ${dir}/*`)).toBe('700\n600\n600\n600\n600\n');
    expect(readdirSync(dir)).toEqual([]);
    await tool.close();
    expect(existsSync(dir)).toBe(false);
    await expect(tool.call({ command: 'true' })).rejects.toMatchObject({ code: 'closed' });
    await tool.close();
  });

  it('journals every command as it was given, with its end', async () => {
    const { dir, tool } = bash({ recording: { directory: 'log' }, conversationId: 'talk' });
    await tool.call({ command: 'cd /; echo one' }, { toolCallId: 'call-1' });
    await tool.call({ command: 'exit 3' });
    await tool.close();
    const files = readdirSync(join(dir, 'log'), { recursive: true }).map(String);
    const lines = files
      .filter((name) => name.endsWith('.jsonl'))
      .flatMap((name) => readFileSync(join(dir, 'log', name), 'utf8').split('\n'))
      .filter((line) => line.includes('"command"'));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        command: 'cd /; echo one',
        stdout: 'one\n',
        exit_code: 0,
        working_directory: dir,
        conversation_id: 'talk',
        tool_call_id: 'call-1',
      },
      { command: 'exit 3', exit_code: 3, working_directory: '/' },
    ]);
  });

  it('sends only its type and its name to the API', () => {
    const { tool } = bash();
    expect(JSON.parse(JSON.stringify(tool))).toEqual({ type: 'bash_20250124', name: 'bash' });
  });
});
