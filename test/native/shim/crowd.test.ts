// Threads that all start programs at the same time, and files of the shim that are damaged
// meanwhile.
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
