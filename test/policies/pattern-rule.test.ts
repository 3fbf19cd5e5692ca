// A pattern for an answer that holds always: what a person is shown of it, and which are none.
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { allowAlways, proposal } from '../../src/policies/add-rule.ts';
import { PolicyEngine } from '../../src/policies/engine.ts';
import * as files from '../../src/policies/files.ts';
import { EXAMPLES } from '../../src/policies/pattern-rule.ts';

function engineOf(policy = 'default: ask\n'): PolicyEngine {
  const home = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'cuff-pattern-')));
  onTestFinished(() => fs.rmSync(home, { recursive: true, force: true }));
  const project = join(home, 'app');
  fs.mkdirSync(join(project, '.cuff'), { recursive: true });
  fs.writeFileSync(join(project, '.cuff', 'policy.yml'), policy);
  const env = { HOME: home, XDG_CONFIG_HOME: join(home, 'config') };
  const systemFile = join(home, 'none');
  const where = { project, env, systemFile, stateRoot: join(home, 'state'), watch: false };
  return PolicyEngine.open(where, files);
}

const asked = (engine: PolicyEngine, command: string, pattern?: string) => ({
  ...{ command, cwd: engine.project, scope: 'project' as const },
  pattern,
});

describe('a pattern that is proposed', () => {
  it.each([
    ['git log -3 --oneline', 'git log *'],
    ['grep -n words README.md', 'grep *'],
    ['touch notes.txt', 'touch *'],
    ['head -n 20 README.md', 'head *'],
  ])('for `%s` is `%s`, with what it would and would not allow', async (command, pattern) => {
    const engine = engineOf();
    const found = await proposal(engine, asked(engine, command));
    if ('kind' in found) throw new Error(found.why);
    expect(found.pattern).toBe(pattern);
    expect(found.allows).toHaveLength(EXAMPLES);
    expect(found.allows[0]).toBe(command);
    expect(found.refuses).toHaveLength(EXAMPLES);
    // They are what the policy says once the rule is in it.
    const made = await allowAlways(engine, asked(engine, command, pattern));
    expect(made).toMatchObject({ kind: 'written', patterns: [pattern] });
    const said = (text: string) => engine.decide(text, engine.project)?.decision.verdict;
    expect(found.allows.map(said)).toEqual(found.allows.map(() => 'allow'));
    expect(found.refuses.map(said)).not.toContain('allow');
  });

  it.each([
    ['rm -rf build', 'deletes'],
    ['frobnicate x', 'has no profile'],
    ['bash build.sh', 'runs anything'],
    ['cat a; head b', 'is more than one part'],
    ['git log $x', 'is not all known'],
  ])('is none for `%s`, which %s', async (command) => {
    const engine = engineOf();
    expect(await proposal(engine, asked(engine, command))).toMatchObject({ kind: 'impossible' });
  });
});

describe('a pattern that a person writes', () => {
  it.each([
    ['git status', 'git stat*', 'too little besides it'],
    ['git log', 'git show *', 'No rule allows'],
    ['npm run build', 'npm *', ''],
    ['git log', '* log', 'has to name its program'],
    ['git log', 'git log <nothing>', 'git log <nothing>'],
    ['bash x.sh', 'bash *', ''],
    ['python3 x.py', 'python3 *', ''],
    ['mv a b', 'mv a *', ''],
  ])('for `%s` is not `%s`, and it says why', async (command, pattern, why) => {
    const engine = engineOf();
    const before = fs.readFileSync(join(engine.project, '.cuff', 'policy.yml'), 'utf8');
    for (const work of [proposal, allowAlways]) {
      const made = await work(engine, asked(engine, command, pattern));
      expect(made).toMatchObject({ kind: 'impossible', why: expect.stringContaining(why) });
    }
    expect(fs.readFileSync(join(engine.project, '.cuff', 'policy.yml'), 'utf8')).toBe(before);
  });

  it('is refused when an attack fits it, and the sentence names the attack', async () => {
    const engine = engineOf('default: ask\nscopes: { read: [/etc] }\n');
    const made = await allowAlways(engine, asked(engine, 'head -5 /etc/hosts', 'head *'));
    expect(made).toMatchObject({
      kind: 'impossible',
      why: 'it would let an attack through: `head -5 /etc/passwd`',
    });
  });
});
