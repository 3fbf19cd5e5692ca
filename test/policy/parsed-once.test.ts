// How often a text goes through the parser: once for each text, whatever asks about it.
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { hasInteractiveRebase } from '../../src/agent/command-text.ts';
import { dangerousPattern } from '../../src/policy/safety.ts';
import { commitsIn } from '../../src/run/git-trailer.ts';
import { judgement, PROJECT } from './helper.ts';

// Files of this lane share their modules: these are loaded anew, on a parser that is counted.
const parsed: string[] = vi.hoisted(() => {
  vi.resetModules();
  return [];
});

afterAll(() => {
  vi.doUnmock('unbash');
  vi.resetModules();
});

vi.mock('unbash', async (original) => {
  const real = await original<typeof import('unbash')>();
  const parse = (text: string) => {
    parsed.push(text);
    return real.parse(text);
  };
  return { ...real, parse };
});

describe('a text is parsed once', () => {
  beforeEach(() => {
    parsed.length = 0;
  });

  it('by a decision, with the built-in rules', () => {
    const judged = judgement({ default: 'allow' });
    expect(judged.decide('cd x && rm -rf / > /dev/sda # once', PROJECT).verdict).toBe('deny');
    expect(parsed).toEqual(['cd x && rm -rf / > /dev/sda # once']);
  });

  it('by a decision about a script in a text, each of them', () => {
    const judged = judgement({ default: 'allow' });
    const command = `bash -c 'cd y && rm -rf /' # each`;
    expect(judged.decide(command, PROJECT).code).toBe('builtin.dangerous');
    expect(parsed).toEqual([command, 'cd y && rm -rf /']);
  });

  it('by a dialect without a policy, whatever it asks', () => {
    const command = 'git commit -m a && git rebase main && rm -rf x # all';
    expect(dangerousPattern(command)).toBeUndefined();
    expect(hasInteractiveRebase(command)).toBe(false);
    expect(commitsIn(command, 'Co-authored-by: A <a@b.c>')).toHaveLength(1);
    expect(parsed).toEqual([command]);
  });

  it('also when another one came in between', () => {
    for (const command of ['rm a # 1', 'rm b # 2', 'rm a # 1']) dangerousPattern(command);
    expect(parsed).toEqual(['rm a # 1', 'rm b # 2']);
  });

  it('but for the ones that are long ago', () => {
    const first = 'rm a # first';
    dangerousPattern(first);
    for (let at = 0; at < 10; at += 1) dangerousPattern(`rm ${at}${'x'.repeat(20_000)}`);
    dangerousPattern(first);
    expect(parsed.filter((text) => text === first)).toHaveLength(2);
  });
});
