// Hooks and shell of cuff under real agent programs: what the policy denies has no effect, its
// reason reaches the model once, and a hook that is missing, killed, slow or broken changes
// neither. What the policy asks about is refused with an id, and runs once a person approved it.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { atOwnTerminal } from '../cli/terminal.ts';
import { AgentCase } from './case.ts';
import { CLIENTS } from './clients/all.ts';
import { type AgentClient, writeConfig } from './clients/client.ts';
import { Gate } from './gate.ts';
import { HOOKS } from './hooks.ts';

const REASON = 'people make this file';

const POLICY = `default: allow
policies:
  - name: made by people
    commands:
      - pattern: touch refused
        decision: deny
        reason: ${REASON}
      - pattern: touch asked
        decision: ask
`;

async function started(client: AgentClient, command: string): Promise<AgentCase> {
  const one = await AgentCase.start(client, { main: [{ calls: [client.shell(command)] }] });
  writeConfig(join(one.home, '.config', 'cuff', 'policy.yml'), POLICY);
  return one;
}

/** What the model was told by its one call. */
async function told(one: AgentCase): Promise<string> {
  await one.agent('work [[main]]');
  await one.quiet();
  return one.model
    .results('main')
    .map(({ text }) => text)
    .join('\n');
}

function expectRefused(one: AgentCase, words: string): void {
  expect(words.split(REASON), words).toHaveLength(2);
  expect(existsSync(join(one.project, 'refused'))).toBe(false);
}

const HOOKED = CLIENTS.filter(({ name }) => HOOKS[name] !== undefined);

const BOTH = HOOKED.filter(({ hasShell }) => hasShell);

/** A hook of cuff's, or what a test puts in its place. */
function addHook(
  one: AgentCase,
  client: AgentClient,
  program = one.cuffProgram,
  seconds?: number,
): void {
  HOOKS[client.name]?.(one, program, seconds);
}

describe.each(HOOKED)('$name with the hook of cuff', (client) => {
  it('does not run what is denied, and its model hears the reason once', async () => {
    await using one = await started(client, 'touch refused');
    addHook(one, client);
    expectRefused(one, await told(one));
  });
});

describe.each(BOTH)('$name with the hook and the shell of cuff', (client) => {
  it('refuses what is denied once, with one entry', async () => {
    await using one = await started(client, 'touch refused');
    addHook(one, client);
    one.record();
    expectRefused(one, await told(one));
    expect(one.entries()).toMatchObject([{ command: 'touch refused', end_reason: 'denied' }]);
  });

  it.each([
    ['is missing', undefined],
    ['is killed', 'kill -KILL $$'],
    ['prints what is no answer', 'cat > /dev/null; echo "{ no answer"'],
    ['fails', 'cat > /dev/null; exit 1'],
  ])('does not run what is denied when the hook %s', async (_, script) => {
    await using one = await started(client, 'touch refused');
    const broken = join(one.home, 'broken-hook');
    if (script !== undefined) writeFileSync(broken, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    addHook(one, client, broken);
    one.record();
    await told(one);
    expect(existsSync(join(one.project, 'refused'))).toBe(false);
  });

  it('does not run what is denied when the hook does not answer in time', async () => {
    await using one = await started(client, 'touch refused');
    const path = join(one.home, 'gate');
    using _gate = new Gate(path);
    const slow = join(one.home, 'slow-hook');
    writeFileSync(slow, `#!/bin/sh\nexec cat '${path}'\n`, { mode: 0o755 });
    addHook(one, client, slow, 1);
    one.record();
    expectRefused(one, await told(one));
    expect(one.entries()).toMatchObject([{ command: 'touch refused', end_reason: 'denied' }]);
  });

  it('refuses what is asked about with an id, and runs it once it is approved', async () => {
    await using one = await started(client, 'touch asked');
    addHook(one, client);
    one.record();
    const words = await told(one);
    expect(existsSync(join(one.project, 'asked'))).toBe(false);
    const [, id = 'none'] = /cuff policy approve (\S+?)[`.]?\s/.exec(`${words} `) ?? [];
    const approve = [one.cuffProgram, 'policy', 'approve', id];
    const given = await atOwnTerminal(approve, { cwd: one.project, env: one.env });
    expect(given, words).toMatchObject({ code: 0 });
    await one.agent('work [[main]]');
    expect(existsSync(join(one.project, 'asked'))).toBe(true);
  });
});
