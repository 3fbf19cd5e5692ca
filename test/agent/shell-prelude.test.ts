// Where a command has gone to, and that it cannot tell that somebody asks: every command is run by
// a bare bash and by one that is followed, and both must print and end the same.
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Preludes } from '../../src/agent/shell-prelude.ts';
import { bash } from './bare-bash.ts';

function preludes(): Preludes {
  const all = new Preludes();
  onTestFinished(() => all.close());
  return all;
}

/** The command, and where it says it went if it began in /usr. */
const BATTERY: readonly (readonly [string, string | undefined])[] = [
  ['cd /', '/'],
  ['cd bin/..; cd lib', '/usr/lib'],
  ['cd / && false', undefined],
  ['cd /; exit 3', undefined],
  ['cd /nowhere', undefined],
  ['cd /nowhere; true', '/usr'],
  ['cd /; exit', '/'],
  ['(cd /); pwd', '/usr'],
  ['cd / | cat', '/usr'],
  ['pushd /; popd; pushd /tmp >/dev/null', '/tmp'],
  ['c=cd; $c /', '/'],
  ['builtin cd /; command cd /tmp', '/tmp'],
  ['f() { cd /; }; f', '/'],
  ['eval "cd /"; echo $?', '/'],
  ['cd /; cd -', '/usr'],
  ['echo "[$_]"; cd /', '/'],
  ['cd /; echo "$_"', '/'],
  ['echo $- $SHLVL $BASH_SUBSHELL $0 $# $? $LINENO; cd /', '/'],
  ['cd /; env | grep -v "^_=" | sort', '/'],
  ['cd /; export -p', '/'],
  ['cd /; readonly -p', '/'],
  ['cd /; set -o; shopt', '/'],
  ['cd /; set', undefined],
  ['cd /; declare -p', undefined],
  ['cd /; declare', undefined],
  ['cd /; typeset -p HOME', undefined],
  ['cd /; declare -A a=([b]=c); echo "$a"', '/'],
  ['cd /; compgen -v', undefined],
  ['cd /; caller; true', undefined],
  ['cd /; hash; jobs; dirs', '/'],
  ['set -x; cd /; true', '/'],
  ['set -e; cd /; true', '/'],
  ['set -e; cd /; false; echo never', undefined],
  ['set -eEuTo pipefail; cd /; true | cat', '/'],
  ['set -u; cd /; echo $nothing', undefined],
  ['set -v; cd /; echo hi', undefined],
  ['set -xv; cd /; true', undefined],
  ['set -o verbose; cd /; true', undefined],
  ['shopt -so verbose; cd /; true', undefined],
  ['x=-v; set $x; cd /; true', undefined],
  ['set -r; echo hi; cd /', undefined],
  ['set -C; cd /', '/'],
  ['set -f; cd /; echo *', '/'],
  ['set -k; cd /', '/'],
  ['set -m; cd /; true | true', '/'],
  ['set -n; cd /', undefined],
  ['set -t; cd /', '/'],
  ['set -P; cd /', '/'],
  ['set -- a b; cd /; echo $2', '/'],
  ['set -- -v; cd /; echo $1', '/'],
  ['set -o posix; cd /; echo hi', '/'],
  ['set -o posix; alias builtin=echo; cd /', undefined],
  ['shopt -s extdebug; cd /; true', undefined],
  ['shopt -s nullglob; cd /', '/'],
  ['ulimit -f 0; cd /; echo hi', undefined],
  ['ulimit -n 3; cd /; echo hi', undefined],
  ['eval "ulimit -f 0"; cd /; echo hi', undefined],
  ['. <(echo ulimit -f 0); cd /; echo hi', undefined],
  ['readonly s; cd /; true', '/'],
  ['readonly -a PIPESTATUS; cd /', undefined],
  ['declare -r s=1; cd /; true', '/'],
  ['trap -p; cd /', undefined],
  ['trap "echo dbg" DEBUG; cd /; true', undefined],
  ['trap "echo err" ERR; cd /; true', undefined],
  ['trap "echo mine" EXIT; cd /', undefined],
  ['t=trap; $t "echo mine" EXIT; cd /', undefined],
  ['x=$(trap -p); echo "[$x]"; cd /', undefined],
  ['BASH_XTRACEFD=1; set -x; cd /; true', undefined],
  ['PS4="+ $(echo p) "; set -x; cd /', undefined],
  ['set() { echo mine; }; cd /', '/'],
  ['[() { echo mine; }; cd /', '/'],
  ['pwd() { echo mine; }; case() { :; } 2>/dev/null; cd /', undefined],
  ['pwd() { echo mine; }; cd /', '/'],
  ['builtin() { echo mine >&2; }; cd /', undefined],
  ['function builtin { echo mine >&2; }; cd /', undefined],
  ['enable -n pwd; cd /', undefined],
  ['IFS=/; cd /; echo hi', '/'],
  ['PATH=/none; cd /', '/'],
  ['umask 777; cd /', '/'],
  ['exec 1>&-; cd /', '/'],
  ['exec 2>&-; cd /', '/'],
  ['exec 0<&- 1>/dev/null 2>&1; cd /', '/'],
  ['cd /; exec true', undefined],
  ['cd /; kill -TERM $$', '/'], // as its status says; who asks knows that it was ended
  ['cd /; kill -9 $$', undefined],
  ['cd /; kill -INT $$; true', '/'],
  ['cd /; return 3', undefined],
  ['cd /; if', undefined],
  ['unset PWD OLDPWD; cd /', '/'],
  ['cd /; wait; sleep 0.01 & wait', '/'],
  ['cd "$(mktemp -d)"; rmdir "$PWD"', undefined],
  ['cd /; bash -c "env | grep -c BASH_EN"; true', '/'],
];

describe('where a command goes', () => {
  it.each(BATTERY)('is known of `%s`, and it cannot tell', (command, went) => {
    const followed = preludes().follow(command);
    const bare = bash(command, {}, '/usr');
    expect(bash(command, followed?.env ?? {}, '/usr')).toEqual(bare);
    expect(followed?.take()).toBe(went);
  });

  it('is not asked of what goes nowhere', () => {
    expect(preludes().follow('ls -l')).toBeUndefined();
  });

  it('is known to the byte, or not at all', () => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'cuff-went-')));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const all = preludes();
    for (const [name, went] of [
      ['a b', 'a b'],
      ["it's $(x) `y`", "it's $(x) `y`"],
      ['é\n\n', 'é\n\n'],
    ] as const) {
      const followed = all.follow('mkdir -- "$NAME" && cd -- "$NAME"');
      bash('mkdir -- "$NAME" && cd -- "$NAME"', { ...followed?.env, NAME: name }, dir);
      expect(followed?.take()).toBe(join(dir, went));
    }
    const broken = String.raw`mkdir $'x\xff' && cd $'x\xff'`;
    const followed = all.follow(broken);
    expect(bash(broken, followed?.env ?? {}, dir).end).toBe('0');
    expect(followed?.take()).toBeUndefined();
  });

  it('leaves nothing behind, in a temporary directory with any name', () => {
    const odd = mkdtempSync(join(tmpdir(), 'cuff $(x) `y` \\z \'a" b-'));
    const before = process.env.TMPDIR;
    process.env.TMPDIR = odd;
    onTestFinished(() => {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
      rmSync(odd, { recursive: true, force: true });
    });
    const all = new Preludes();
    const followed = all.follow('cd /');
    expect(bash('cd /', followed?.env ?? {}).stderr).toBe('');
    expect(followed?.take()).toBe('/');
    const [own = ''] = readdirSync(odd);
    expect(readdirSync(join(odd, own))).toEqual([]);
    all.close();
    expect(readdirSync(odd)).toEqual([]);
  });

  it('is unknown, and nothing else is lost, where nothing can be written', () => {
    const before = process.env.TMPDIR;
    process.env.TMPDIR = '/dev/null';
    onTestFinished(() => {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    });
    expect(new Preludes().follow('cd /')).toBeUndefined();
  });

  it('is unknown when somebody has removed what it was told to', () => {
    const all = preludes();
    const followed = all.follow('cd /');
    all.close();
    expect(bash('cd /', followed?.env ?? {}).end).toBe('0');
    expect(followed?.take()).toBeUndefined();
  });
});
