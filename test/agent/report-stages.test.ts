// Which stages of a pipeline failed, and that nobody can tell that somebody looked: every command
// is run by a bare bash and by one that is watched, and both must print and end the same.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StageWatch } from '../../src/agent/report-stages.ts';
import { bash } from './bare-bash.ts';

function watchIn(prefix = 'cuff-stages-'): { readonly watch: StageWatch; readonly dir: string } {
  const dir = mkdtempSync(join(tmpdir(), prefix));
  const watch = new StageWatch(dir);
  onTestFinished(() => {
    watch.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return { watch, dir };
}

/** The command, and the codes of the failed stages if they can be known. */
const BATTERY: readonly (readonly [string, readonly number[]])[] = [
  ['false | true', [1]],
  ['(exit 3) | (exit 4) | cat', [3, 4]],
  ['exit 3 | true', [3]],
  ['true | true | true', []],
  ['false | false', [1]],
  ['true | false', []],
  ['cd /; echo a; false | true', [1]],
  ['set -x; false | true', [1]],
  ['set -e; false | true; echo on | cat', []],
  ['set -o pipefail; false | true', [1]],
  ['set -euo pipefail; true | (exit 5) | true; echo never | cat', []],
  ['set -C; false | true', [1]],
  ['set -o posix; false | true', [1]],
  ['set -m; false | true', [1]],
  ['set -euo pipefail; true | (exit 5) | true', [5]],
  ['set -f; echo * | true; (exit 9) | cat', [9]],
  ['IFS=x; false | true', [1]],
  ['umask 777; false | true', [1]],
  ['exec 2>&-; false | true', [1]],
  ['exec 1>&-; false | true', [1]],
  ['yes | head -n 1', []],
  ['! false | true', [1]],
  ['false |& true', [1]],
  ['echo "$_" | cat', []],
  ['env | grep -v "^_=" | sort', []],
  ['echo $- $SHLVL $BASH_SUBSHELL $0 $# $? | cat', []],
  ['echo "$CUFF_STAGES" | cat', []],
  ['bash -c "false | true; env | grep -c STAGES" | cat', [1]],
  ['kill -TERM $$ | true; false | true', []],
  ['kill -9 $$; false | true', []],
  ['sh -c "kill -9 \\$\\$" | true', [137]],
  ['true | sh -c "kill -9 \\$\\$"', []],
  ['exec cat /dev/null; false | true', []],
  ['printf() { echo mine; }; false | true', [1]],
  ['builtin() { echo mine; }; false | true', []],
  ['shopt -s lastpipe; false | { exit 0; }', []],
  ['PATH=/none; false | true', [1]],
  ['f() { false | true; }; f | cat', []],
  ['(false | true) | cat', []],
  ['set -n; false | true', []],
  ['return 3 | true', [2]],
  ['echo a; nothing-of-this-name | cat', [127]],
  ['false | true; exit', []],
  ['for i in 1 2; do false | true; done', []],
  ['false | true &', []],
  ['trap -p; false | true', []],
  ['trap "echo bye" EXIT; false | true', []],
  ['declare -p PIPESTATUS 2>&1 | cat', []],
  ['set | grep -c PIPESTATUS', []],
  ['ulimit -f 0; false | true', []],
  ['. <(echo ulimit -f 0); false | true', []],
  ['set -v; false | true', []],
  ['set -xv; false | true', []],
  ['set -o verbose; false | true', []],
  ['set -r; false | true', []],
  ['x=-v; set $x; false | true', []],
  ['alias builtin=echo; set -o posix; false | true', []],
  ['echo "set a trap" | false | true', [1]],
  ['echo "$PIPESTATUS" | cat', []],
];

describe('the stages of a pipeline', () => {
  it.each(BATTERY)('are known of `%s`, and it cannot tell', (command, codes) => {
    const { watch } = watchIn();
    const watched = watch.watch(command);
    const bare = bash(command, {});
    expect(bash(command, watched?.env ?? {})).toEqual(bare);
    expect((watched?.failed() ?? []).map(({ code }) => code)).toEqual(codes);
  });

  it('are named as they are written', () => {
    const { watch } = watchIn();
    const watched = watch.watch('cat /none | sort -u | wc -l');
    bash('cat /none | sort -u | wc -l', watched?.env ?? {});
    expect(watched?.failed()).toEqual([{ stage: 1, of: 3, code: 1, command: 'cat /none' }]);
  });

  it('have no name where another pipeline may have been the last', () => {
    const { watch } = watchIn();
    const command = 'false | true || echo | cat';
    const watched = watch.watch(command);
    bash(command, watched?.env ?? {});
    expect(watched?.failed()).toEqual([{ stage: 1, of: 2, code: 1, command: undefined }]);
  });

  it.each(['true', 'echo "a | b"', 'a || b', 'a | b; c', 'a | b &', 'if a | b; then c; fi'])(
    'are not watched in `%s`',
    (command) => {
      expect(watchIn().watch.watch(command)).toBeUndefined();
    },
  );

  it('are told through files that only the user can read, in a directory with any name', () => {
    const { watch, dir } = watchIn('cuff $(x) `y` \\z \'a" b-');
    const watched = watch.watch('false | true');
    const [own = ''] = readdirSync(join(dir, 'stages'));
    const path = join(dir, 'stages', own);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    for (const file of readdirSync(path)) {
      expect(statSync(join(path, file)).mode & 0o777).toBe(0o600);
    }
    bash('false | true', watched?.env ?? {});
    expect(watched?.failed()).toHaveLength(1);
    watch.close();
    expect(readdirSync(join(dir, 'stages'))).toEqual([]);
  });

  it('are unknown, and nothing else is lost, where nothing can be written', () => {
    const dir = mkdtempSync(join(tmpdir(), 'cuff-stages-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    writeFileSync(join(dir, 'stages'), '');
    expect(new StageWatch(dir).watch('false | true')).toBeUndefined();
  });

  it('of a server that is gone leave nothing behind', () => {
    const { watch, dir } = watchIn();
    const old = new StageWatch(dir);
    old.watch('a | b');
    const [own = ''] = readdirSync(join(dir, 'stages'));
    const gone = join(dir, 'stages', '99999999-1-abc');
    spawnSync('mv', [join(dir, 'stages', own), gone]);
    watch.watch('a | b');
    expect(readdirSync(join(dir, 'stages'))).not.toContain('99999999-1-abc');
  });
});
