// Protected files that a command in the sandbox makes, over MCP with the built server: the answer
// and the entry tell of them, nothing more runs until the person has looked, no file is touched.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkSandbox } from '../../src/guard/sandbox.ts';
import { binary, until } from '../cli/helper.ts';
import { DIALECTS } from '../dialects/policy-helper.ts';
import { lacking } from '../requirements.ts';
import { dead } from './life.ts';
import { answers, clientNamed, Guarded, run } from './policy-life.ts';

const noSandbox = lacking(!checkSandbox().ok, 'bubblewrap is not there, or may not do it');

const POLICY = 'version: 1\ndefault: allow\nsandbox: bwrap\ngate: "off"\n';

function project(): Guarded {
  const life = new Guarded(POLICY);
  execFileSync('git', ['init', '-q', life.project]);
  return life;
}

/** A script of the project, so that no word of the command names what it writes. */
function script(life: Guarded, text: string): string {
  writeFileSync(join(life.project, 'build.sh'), `${text}\n`);
  return 'bash build.sh';
}

const AWAITS_GO = 'until [ -e go ]; do sleep 0.05; done';
const BUILD = 'policies: [{ name: work, commands: [{ pattern: bash build.sh }] }]\n';

const TELLS = /protected files changed while `bash build.sh` ran: new CLAUDE.md/;

describe.skipIf(noSandbox)('a file that is protected, made in the sandbox', () => {
  it.each(DIALECTS.map((one) => [one.name, one] as const))(
    'is told by %s and its entry, and holds the project until the person has looked',
    async (_, dialect) => {
      const life = project();
      const client = await life.connect(clientNamed('SDK v1'), 'cuff', '--dialect', dialect.name);
      const call = (command: string) =>
        client.call(dialect.listed, { [dialect.argument]: command });
      const made = await call(script(life, 'echo evil > CLAUDE.md; echo done'));
      expect(made).toMatchObject({ isError: false, text: expect.stringMatching(TELLS) });
      const held = await call('echo next > made');
      expect(held.text).toMatch(
        /denied \(changes\)\.\W.*sandbox: new CLAUDE\.md\.\W.*looked: cuff policy changes/s,
      );
      expect(life.made('made')).toBe(false);
      const listed = await life.cuff('policy', 'changes');
      expect(listed.out.replace(/, 20\S+Z/, '')).toBe(
        `${life.project}: 1 protected file changed while \`bash build.sh\` ran\n` +
          '  new CLAUDE.md\n\n' +
          'Look at these files, then run: cuff policy changes --accept\n',
      );
      expect(await life.cuff('policy', 'changes', '--accept')).toMatchObject({ code: 0 });
      expect((await call('echo next > made')).text).not.toContain('changes');
      expect(life.made('made')).toBe(true);
      expect(readFileSync(join(life.project, 'CLAUDE.md'), 'utf8')).toBe('evil\n');
      const decisions = (await life.entries()).map(({ decision }) => decision);
      expect(decisions).toMatchObject([
        { verdict: 'allow', changed: ['new CLAUDE.md'] },
        { verdict: 'deny', code: 'changes' },
        { verdict: 'allow' },
      ]);
      expect(decisions[2]).not.toHaveProperty('changed');
    },
  );

  it('by what a command leaves behind holds the project, too', async () => {
    const life = project();
    const client = await life.connect(clientNamed('by hand'), 'cuff', '--dialect', 'cuff_shell');
    const text = `(${AWAITS_GO}; echo evil > AGENTS.md; : > over) >/dev/null 2>&1 &`;
    expect((await run(client, script(life, text))).text).not.toContain('protected');
    writeFileSync(join(life.project, 'go'), '');
    await until(() => life.made('over'), 'what was left behind has written');
    expect(await run(client, 'echo next > made')).toMatchObject({
      refused: true,
      text: expect.stringContaining('new AGENTS.md'),
    });
  });

  it('after the server was killed holds the project for the next one', async () => {
    const life = project();
    const first = await life.connect(clientNamed('by hand'), 'cuff', '--dialect', 'cuff_shell');
    const text = `: > began; ${AWAITS_GO}; echo evil > .gitmodules; : > over`;
    void run(first, script(life, text)).catch(() => undefined); // it gets no answer
    await until(() => life.made('began'), 'the command has begun');
    process.kill(first.pid, 'SIGKILL');
    await dead(first.pid);
    writeFileSync(join(life.project, 'go'), '');
    await until(() => life.made('over'), 'the command has written');
    const second = await life.connect(clientNamed('by hand'), 'cuff', '--dialect', 'cuff_shell');
    expect(await run(second, 'echo next > made')).toMatchObject({
      refused: true,
      text: expect.stringContaining('new .gitmodules'),
    });
  });

  it('is accepted by no agent, and what changes again is not accepted with it', async () => {
    const life = project();
    const client = await life.connect(clientNamed('by hand'), 'cuff', '--dialect', 'cuff_shell');
    const again = `(${AWAITS_GO}; echo worse > CLAUDE.md; : > over) >/dev/null 2>&1 &`;
    await run(client, script(life, `echo evil > CLAUDE.md; ${again}`));
    const agent = await life.cuff(
      ...['run', '--', process.execPath, binary('cuff'), 'policy', 'changes', '--accept'],
    );
    expect(agent.code).toBe(2);
    expect(agent.err).toContain('An agent cannot accept what changed in the sandbox');
    expect((await life.cuff('policy', 'changes', '--accept')).code).toBe(0);
    expect(await run(client, 'true')).toMatchObject({ refused: false });
    writeFileSync(join(life.project, 'go'), '');
    await until(() => life.made('over'), 'what was left behind has written');
    expect(await run(client, 'true')).toMatchObject({ refused: true });
  });

  it('by the person, as a rule, holds nothing', async () => {
    const life = new Guarded(`version: 1\ndefault: ask\nsandbox: bwrap\ngate: "off"\n${BUILD}`);
    const client = await life.connect(clientNamed('by hand'), 'cuff', '--dialect', 'cuff_shell');
    const text = `(${AWAITS_GO}; : > over) >/dev/null 2>&1 &`;
    await run(client, script(life, text));
    const id = /approve ([a-z2-7]{8})$/.exec((await run(client, 'touch x')).text)?.[1] ?? '';
    expect((await life.cuff('policy', 'approve', id, '--always')).code).toBe(0);
    await answers(() => run(client, 'touch x'), false);
    writeFileSync(join(life.project, 'go'), '');
    await until(() => life.made('over'), 'what was left behind is over');
    expect(await run(client, 'touch x')).toMatchObject({ refused: false });
  });
});
