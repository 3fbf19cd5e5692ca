// What the persistent shell keeps although a command does its worst: names like those of bash,
// functions and aliases in the place of builtins, traps and limits that keep it from saving.
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type AnthropicBashOptions, createAnthropicBash } from '../../src/index.ts';
import { lacking } from '../requirements.ts';
import { closing, home } from './home.ts';

const otherBash = lacking(process.platform !== 'linux', 'bash may be older than 4.4 here');
const LOST = '[what this command changed in the shell was not kept]';
const TIMEOUT_MS = 150_000; // only what hangs takes this long

function bash(options: AnthropicBashOptions = {}) {
  const { dir, options: house } = home();
  const tool = closing(createAnthropicBash({ ...house, timeoutMs: TIMEOUT_MS, ...options }));
  const sh = async (command: string): Promise<string> => (await tool.call({ command })).text;
  return { dir, tool, sh };
}

describe.skipIf(otherBash)('a persistent shell keeps', () => {
  it('variables whose names begin like those of bash, also inherited ones', async () => {
    vi.stubEnv('BASH_FOO', 'theirs');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { sh } = bash();
    await sh('EPOCHS=10 BASH_MINE=1 COMP_ANY=2 MYRANDOM=3; export BASH_ENV=/none; REPLY=r');
    expect(
      await sh('echo $EPOCHS $BASH_MINE $COMP_ANY $MYRANDOM $BASH_ENV $REPLY; printenv BASH_FOO'),
    ).toBe('10 1 2 3 /none r\ntheirs\n');
    await sh('shopt -s nocasematch; random=4 seconds=5');
    expect(await sh('echo $random $seconds')).toBe('4 5\n');
  });

  it('what bash sets by itself as it is', async () => {
    const { sh } = bash();
    const list = 'compgen -v | grep -v __cuff_';
    const first = await sh(list);
    expect(await sh(list)).toBe(first);
    await sh('RANDOM=1; SECONDS=1000');
    const random = 'echo $RANDOM $RANDOM $RANDOM';
    expect(await sh(random)).not.toBe(await sh(random));
    expect(await sh('[[ $$ == "$BASHPID" && $SECONDS -lt 500 ]] && echo own')).toBe('own\n');
  });

  it('the status of the command before', async () => {
    const { sh } = bash();
    expect(await sh('false')).toBe('[exit code 1]');
    expect(await sh('echo $?; (exit 7)')).toBe('1\n[exit code 7]');
    expect(await sh(`echo "\${?}"`)).toBe('7\n');
    expect(await sh('echo $?; set -e; false')).toBe('0\n[exit code 1]');
    expect(await sh('echo $?; [[ -o errexit ]] && echo on')).toBe('1\non\n');
    await sh('set +e; exit 4');
    expect(await sh('# nothing')).toBe('[no output]');
    await sh('exit 4');
    expect(await sh('echo "unclosed')).toMatch(/\[exit code 2\]$/);
  });

  it('what is declared without a value', async () => {
    const { sh } = bash();
    await sh('declare -x EXPO; declare -a list; declare -A map; declare -i n; declare -r fixed');
    await sh('EXPO=1; list+=(a); map[k]=v; n=1+2');
    expect(await sh(`printenv EXPO; declare -p list map n; fixed=1`)).toBe(
      `1
declare -a list=([0]="a")
declare -A map=([k]="v" )
declare -i n="3"
/bin/bash: line 1: fixed: readonly variable
[exit code 1]`,
    );
  });

  it('the variable, and not the local one of a function that exits', async () => {
    const { sh } = bash();
    await sh(`x=outer; y=1; export z=2; declare -n ref=y; readonly fixed=3
g() { local x=deep w=w; exit; }
f() { local x=inner v=v; local -x z=z; y=4; g; }
f`);
    expect(await sh(`echo $x $y $z $ref $fixed \${v-none} \${w-none}; printenv z`)).toBe(
      'outer 4 2 4 3 none none\n2\n',
    );
  });

  it('that a function of the environment was unset, and attributes of functions', async () => {
    vi.stubEnv('BASH_FUNC_given%%', '() { echo given; }');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { sh } = bash();
    expect(await sh('given; unset -f given; f() { echo f; }; export -f f; readonly -f f')).toBe(
      'given\n',
    );
    expect(await sh('declare -F f; bash -c f; type given 2>/dev/null || echo none')).toBe(
      'f\nf\nnone\n',
    );
    expect(await sh('f() { :; }')).toContain('f: readonly function');
  });

  it('the posix mode, exported or not, and every other option', async () => {
    const { sh } = bash();
    await sh('a-b() { echo dash; }; export POSIXLY_CORRECT=1');
    expect(await sh('printenv POSIXLY_CORRECT; [[ -o posix ]] && a-b; set +o posix')).toBe(
      '1\ndash\n',
    );
    expect(await sh(`[[ -o posix ]]; echo $? \${POSIXLY_CORRECT-none}`)).toBe('1 none\n');
    await sh('set +hB; set +o interactive-comments; shopt -u expand_aliases; shopt -s dotglob');
    expect(await sh('echo "[$SHELLOPTS]"; shopt expand_aliases dotglob; echo {a,b}')).toBe(
      '[]\nexpand_aliases \toff\ndotglob        \ton\n{a,b}\n',
    );
  });

  it('IFS that splits everything, and one that cannot be changed', async () => {
    const { sh } = bash();
    await sh('IFS=AEIO_aeio; x_a=1; readonly IFS');
    expect(await sh('echo "$IFS"; echo $x_a; y=2')).toBe('AEIO_aeio\n1\n');
    expect(await sh('echo $y')).toBe('2\n');
  });

  it('everything in the way it was when a trap for every command is set', async () => {
    const { sh } = bash();
    expect(await sh(`set -ET; trap 'echo dbg' DEBUG; x=1`)).toBe('dbg\n');
    expect(await sh('echo $x; [[ -o functrace ]] && echo on')).toBe('1\non\n');
  });
});

describe.skipIf(otherBash)('the directory of a persistent shell', () => {
  it('is known although PWD is unset, wrong or readonly', async () => {
    const { dir, sh } = bash();
    mkdirSync(join(dir, 'a'));
    await sh('unset PWD');
    expect(await sh(`echo "\${PWD-none}"; pwd; cd a`)).toBe(`none\n${dir}\n`);
    expect(await sh('pwd; PWD=/wrong')).toBe(`${dir}/a\n`);
    expect(await sh('echo $PWD; pwd; cd ..')).toBe(`/wrong\n${dir}/a\n`);
    await sh('readonly PWD; cd a 2>/dev/null; :');
    expect(await sh('pwd -P')).toBe(`${dir}/a\n`);
  });

  it('has its logical name, and OLDPWD is the one before', async () => {
    const { dir, sh } = bash();
    mkdirSync(join(dir, 'real'));
    symlinkSync('real', join(dir, 'link'));
    await sh('unset OLDPWD; :');
    expect(await sh(`echo \${OLDPWD-none}; cd link`)).toBe('none\n');
    expect(await sh('pwd; pwd -P; cd -')).toBe(`${dir}/link\n${dir}/real\n${dir}\n`);
  });

  it('that is gone is not what PWD says', async () => {
    const { dir, sh } = bash();
    await sh('mkdir sub; cd sub; rmdir ../sub');
    expect(await sh('echo $PWD')).toBe(`${dir}\n[${dir}/sub is gone; this command ran in ${dir}]`);
  });
});

describe.skipIf(otherBash)('nothing is shown or lost when a command makes', () => {
  it('functions in the place of builtins', async () => {
    const { sh } = bash();
    const names =
      'alias break cd compgen continue declare enable eval exit local printf pushd pwd read ' +
      'return set shopt source umask unset : .';
    const functions = names.split(' ').map((name) => `${name}() { command echo HACK ${name}; }`);
    await sh(`alias hi='echo HI'; ${functions.join('; ')}`);
    expect(await sh('x=1; command echo $x')).toBe('1\n');
    expect(await sh('hi; declare; set; command echo $x')).toBe('HI\nHACK declare\nHACK set\n1\n');
  });

  it('a function named builtin, which is all that is not kept', async () => {
    const { sh } = bash();
    expect(await sh('builtin() { :; }; f() { echo f; }; x=1')).toBe('[no output]');
    expect(await sh('f; echo $x; builtin echo real')).toBe('f\n1\nreal\n');
  });

  it('aliases in the place of builtins', async () => {
    const { sh } = bash();
    const names = 'alias builtin declare return set shopt trap unset umask cd';
    await sh(`for name in ${names}; do builtin alias $name="echo HACK $name"; done; x=1`);
    expect(await sh('echo $x')).toBe('1\n');
    expect(await sh('set; echo $x; f() { set; }; f')).toBe('HACK set\n1\nHACK set\n');
  });

  it('every word an assignment', async () => {
    const { sh } = bash();
    await sh('set -k; x=1');
    expect(await sh(`echo $x; trap 'echo end' EXIT; y=2`)).toBe('1\nend\n');
    expect(await sh('echo $x $y a=b; printenv a a=b')).toBe('1 2\nb\n');
  });

  it('a locale that does not exist', async () => {
    const { sh } = bash();
    await sh('export LC_ALL=xx_YY.none 2>/dev/null; x=1');
    expect(await sh('echo $x $LC_ALL')).toBe('1 xx_YY.none\n');
  });

  it('builtins that are disabled', async () => {
    const { sh } = bash();
    expect(await sh('enable -n printf cd declare; x=1')).toBe('[no output]');
    expect(await sh('echo $x')).toBe('1\n');
  });

  it('a trace into a file', async () => {
    const { sh } = bash();
    await sh('exec 5>trace; BASH_XTRACEFD=5; set -x; x=1');
    expect(await sh('echo $x')).toBe('+ echo 1\n1\n');
  });
});

describe.skipIf(otherBash)('a command whose state cannot be saved', () => {
  it.each([
    ["command trap 'echo bye' EXIT", 'bye\n'],
    ["unset -f trap; trap 'echo bye' EXIT", 'bye\n'],
    ['trap() { :; }; builtin trap - EXIT', ''],
    ['ulimit -n 5', ''],
    ['ulimit -f 0', ''],
    ['enable -n builtin', ''],
    ['exec true', ''],
  ])('says so, and the state before it stays: %s', async (command, output) => {
    const { sh } = bash();
    await sh('x=1; cd /');
    expect(await sh(`x=2; cd /usr; ${command}`)).toBe(`${output}${LOST}`);
    expect(await sh('echo $x $PWD')).toBe('1 /\n');
  });

  it('because its files are gone says so; the next one has all from before', async () => {
    const { dir, tool, sh } = bash();
    vi.stubEnv('TMPDIR', dir);
    onTestFinished(() => void vi.unstubAllEnvs());
    await sh('x=1');
    expect(await sh('x=2; rm -r cuff-shell-*; exit 3')).toBe(`[exit code 3]\n${LOST}`);
    expect(await sh('echo $x; x=3')).toBe('1\n');
    for (const name of readdirSync(dir).filter((entry) => entry.startsWith('cuff-shell-'))) {
      rmSync(join(dir, name), { recursive: true });
    }
    expect(await sh('echo $x')).toBe('3\n');
    await tool.close();
    expect(readdirSync(dir).filter((entry) => entry.startsWith('cuff-shell-'))).toEqual([]);
  });

  it('does not run without a place for it, and says why', async () => {
    const { dir, tool, sh } = bash();
    vi.stubEnv('TMPDIR', join(dir, 'none'));
    onTestFinished(() => void vi.unstubAllEnvs());
    const { text, isError } = await tool.call({ command: 'touch ran' });
    expect(text).toMatch(/^The state of the shell cannot be written: ENOENT.*\.$/);
    expect(isError).toBe(true);
    mkdirSync(join(dir, 'none'));
    expect(await sh('ls')).toBe('none\nstate\n');
  });

  it('has a directory whose name is no plain word', async () => {
    const { dir, sh } = bash();
    const odd = join(dir, `a $x\`"'\\b`);
    mkdirSync(odd);
    chmodSync(odd, 0o700);
    vi.stubEnv('TMPDIR', odd);
    onTestFinished(() => void vi.unstubAllEnvs());
    await sh('x=1');
    expect(await sh('echo $x')).toBe('1\n');
  });
});
