// Ordinary commands with the rules that a person would write for them. All are allowed: a policy
// that asks about them would be switched off. With rules that deny, they are the neighbours of what
// is denied.
import { describe, expect, it } from 'vitest';
import own from './fixtures/accepted.json' with { type: 'json' };
import { judgement } from './helper.ts';

type Rules = { readonly allow?: readonly string[]; readonly deny?: readonly string[] };

describe('an ordinary command', () => {
  it.each(
    own.map(({ rules, commands }): [string, Rules, readonly string[]] => [
      JSON.stringify(rules).slice(0, 80),
      rules,
      commands,
    ]),
  )('under %s is allowed', (_name, rules, commands) => {
    const judged = judgement({ default: rules.deny === undefined ? 'ask' : 'allow', ...rules });
    const refused = commands.filter(
      (command) => judged.decide(command, '/home/user/app').verdict !== 'allow',
    );
    expect(refused).toEqual([]);
  });
});
