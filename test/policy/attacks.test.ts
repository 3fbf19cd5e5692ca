// Commands that do more than the rule beside them means: none may be allowed under it. Those of the
// shared corpus are tried, too, where it lies beside the repository.
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { judge } from '../../src/policy/decide.ts';
import own from './fixtures/attacks.json' with { type: 'json' };
import { HOME, judgement, policyOf, policyText } from './helper.ts';

type Rules = { readonly allow?: readonly string[]; readonly deny?: readonly string[] };

const CORPUS = new URL('../../../shared/policy-corpus.jsonl', import.meta.url);

describe('an attack', () => {
  it.each(
    own.map(({ rules, commands }): [string, Rules, readonly string[]] => [
      JSON.stringify(rules),
      rules,
      commands,
    ]),
  )('under %s is not allowed', (_name, rules, commands) => {
    const judged = judgement({ default: rules.deny === undefined ? 'ask' : 'allow', ...rules });
    const allowed = commands.filter(
      (command) => judged.decide(command, '/home/user/app').verdict === 'allow',
    );
    expect(allowed).toEqual([]);
  });

  it('of the shared corpus is not allowed under the rule it carries', ({ skip }) => {
    if (!existsSync(CORPUS)) skip('the corpus is not beside this repository');
    const attacks = readFileSync(CORPUS, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ kind }) => kind === 'attack');
    const allowed = attacks.filter(({ command, cwd, policy: { default: by, ...rules } }) => {
      const policy = policyOf(policyText({ default: by, ...rules }));
      const policies = [{ policy, origin: 'user', file: undefined }] as const;
      const homes = [HOME, '/home/user', '/root'];
      return homes.some((home) => {
        const judged = judge({ policies, project: cwd, home });
        return judged.decide(command, cwd).verdict === 'allow';
      });
    });
    expect(attacks.length).toBeGreaterThan(100);
    expect(allowed.map(({ command }) => command)).toEqual([]);
  });
});
