// Threads and processes that all start programs at the same time, processes that are killed while
// they report, and files of the shim that are damaged meanwhile.
import { cpSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bare, framesOf, program, shimDir, shown, traced, work } from './helper.ts';

describe('system and popen by many threads', () => {
  it('lose no child, and show other threads no variable of ours', () => {
    const crowd = program('crowd');
    const run = traced([crowd, '6', '10']);
    expect(shown(run)).toEqual(shown(bare([crowd, '6', '10'])));
    expect(run.stdout).toBe('0 wrong, 0 foreign, SIGINT as it was, left -1\n');
    const shells = framesOf(run, 'start').filter(({ argv }) => argv[0] === 'sh');
    expect(shells).toHaveLength(6 * 10 * 4);
    expect(framesOf(run, 'start').filter(({ argv }) => argv[0] === 'cat')).toHaveLength(6 * 10);
    const ended = framesOf(run, 'reap').map(({ child }) => child);
    expect(shells.filter(({ who }) => !ended.includes(who.pid))).toEqual([]);
  });
});

describe('processes that report at the same time', () => {
  it('50 of them lose no frame', () => {
    const text = 'for i in {1..50}; do (/bin/true; /bin/false; exit 3) & done; wait';
    const run = traced(['bash', '-c', text]);
    expect(shown(run)).toEqual({ status: 0, signal: null, stdout: '', stderr: '' });
    const count = (type: 'start' | 'fork' | 'exit' | 'reap') => framesOf(run, type).length;
    const [started, forked] = [1 + 2 * 50, 3 * 50];
    expect([count('start'), count('fork')]).toEqual([started, forked]);
    // Every process but the first is waited for by another one.
    expect([count('exit'), count('reap')]).toEqual([1 + forked, forked]);
    expect([run.damagedBytes, framesOf(run, 'drop')]).toEqual([0, []]);
  });

  it('some of which are killed in the middle leave a trace that can be read', () => {
    const text = `for i in {1..40}; do
      bash -c 'while :; do (:); done' & for ((k = RANDOM % 3000; k > 0; k--)); do :; done
      kill -9 $!; wait $!; done 2>/dev/null; exit 5`;
    const run = traced(['bash', '-c', text]);
    expect(shown(run)).toEqual({ status: 5, signal: null, stdout: '', stderr: '' });
    const killed = framesOf(run, 'reap').filter(
      ({ who, status }) => who.pid === run.pid && status === 9,
    );
    expect(killed).toHaveLength(40);
    const own = framesOf(run, 'exit').filter(({ who }) => who.pid === run.pid);
    expect(own).toMatchObject([{ code: 5 }]);
    // The kernel cuts a write short at the end of a page at most.
    expect(run.damagedBytes).toBeLessThan(40 * 136);
  });
});

describe('a file of the shim that is replaced by a damaged one', () => {
  it('is loaded by no child', () => {
    const dir = mkdtempSync(join(work, 'damaged-'));
    cpSync(shimDir, dir, { recursive: true });
    const text = [
      `find '${dir}' -name '*.so' | while read -r f; do`,
      'head -c "$(stat -c %s "$f")" /dev/zero > "$f.new"; mv "$f.new" "$f"; done',
      '/bin/echo one; sh -c "/bin/echo two; exec /bin/echo three"; perl -e "system q(echo four)"',
    ];
    const argv = ['/bin/sh', '-c', `${text.slice(0, 2).join(' ')}\n${text[2]}`];
    const run = traced(argv, { dir });
    expect(shown(run)).toEqual({
      status: 0,
      signal: null,
      stdout: 'one\ntwo\nthree\nfour\n',
      stderr: '',
    });
    expect(framesOf(run, 'exec').map(({ argv: words }) => words[0])).toContain('/bin/echo');
  });
});
