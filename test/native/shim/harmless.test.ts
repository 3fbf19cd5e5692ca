// What a program does that no hook may be in the way of: pointers that lead nowhere, threads that
// move descriptors about.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bare, framesOf, program, shown, traced, work } from './helper.ts';

describe('exec with pointers that lead nowhere', () => {
  it.each(['cc -O1', 'musl-gcc -O1'])('fails as it does without us (%s)', (compiler) => {
    const unmapped = program('unmapped', compiler);
    const run = traced([unmapped]);
    expect(shown(run)).toEqual(shown(bare([unmapped])));
    expect(run.stdout).toContain('execve argv: -1 14\n');
    expect(
      run.stdout.split('\n').filter((line) => line.includes(': -1 14')).length,
    ).toBeGreaterThan(20);
  });
});

describe('threads that move descriptors about', () => {
  it('find no frame in their files', () => {
    const grabber = program('grabber');
    const file = join(work, 'grabbed');
    const run = traced([grabber, file, '400']);
    expect(run).toMatchObject({ status: 0, stdout: '0 failed\n' });
    const text = readFileSync(file, 'latin1');
    expect(text.split('CFFR').length - 1).toBe(0);
    expect(new Set(text.split('\n'))).toEqual(new Set(["a line of the program's own", '']));
    // A frame whose descriptor was taken away is counted as missing.
    const dropped = framesOf(run, 'drop').reduce((sum, { frames }) => sum + frames, 0);
    expect(framesOf(run, 'reap').length).toBeGreaterThan(400 - dropped - 1);
    expect(framesOf(run, 'reap').length).toBeGreaterThan(0);
  });
});
