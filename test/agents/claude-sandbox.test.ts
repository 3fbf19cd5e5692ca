// Claude Code with a sandbox of its own (bwrap and seccomp) around every command: it starts its
// shell three times, one inside the other, and hands a file on. The model is told what it is told
// without cuff, each command has one entry, and what is denied does not run.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkSandbox } from '../../src/guard/sandbox.ts';
import { lacking } from '../requirements.ts';
import { AgentCase } from './case.ts';
import { CLIENTS } from './clients/all.ts';
import { type AgentClient, writeConfig } from './clients/client.ts';
import { addTo } from './hooks.ts';

const COMMANDS = [
  'echo out; echo err >&2; exit 3',
  'touch made; touch ~/made',
  'kill -TERM $$',
  'cd below; pwd',
  "printf '%s\\n' '{ socat ' \"it's\"",
  "env | grep -i -e '^cuff_[a-z]*=' -e '^BASH_ENV=' | grep -v CUFF_AGENT_CASE; echo $SHLVL $?",
];

const POLICY = 'default: allow\npolicies:\n  - commands: [{ pattern: touch*, decision: deny }]\n';

const PLUGIN = join(import.meta.dirname, '..', '..', 'dist', 'plugin', 'cuff');

/** The sandbox needs one for its way to the network, which no command here takes. */
const SOCAT = `#!/usr/bin/python3
import re, signal, socket, sys
paths = [m[1] for m in (re.match('UNIX-LISTEN:([^,]+)', word) for word in sys.argv) if m]
sockets = [socket.socket(socket.AF_UNIX) for path in paths]
for one, path in zip(sockets, paths): one.bind(path), one.listen()
signal.pause()
`;

type Cuff = {
  readonly init?: readonly string[];
  readonly policy?: string;
  readonly args?: readonly string[];
};

async function worked(client: AgentClient, cuff: Cuff): Promise<AgentCase> {
  const { init = [], policy, args: more = [] } = cuff;
  const main = COMMANDS.map((command) => ({ calls: [client.shell(command)] }));
  const one = await AgentCase.start(client, { main });
  writeFileSync(join(one.home, '..', 'bin', 'socat'), SOCAT, { mode: 0o755 });
  writeConfig(join(one.project, 'below', 'file'), '');
  const sandbox = { enabled: true, autoAllowBashIfSandboxed: true, failIfUnavailable: true };
  addTo(join(one.home, '.claude', 'settings.json'), { sandbox });
  if (policy) writeConfig(join(one.home, '.config', 'cuff', 'policy.yml'), policy);
  if (init.length > 0) {
    const { code, err } = await one.cuff('init', '--client', 'claude', ...init, '--yes');
    expect(code, err).toBe(0);
  }
  const args = ['--allowedTools', 'Bash', ...more];
  const { code, err } = await one.agent('work [[main]]', { permissions: 'rules', args });
  expect(code, err).toBe(0);
  await one.quiet();
  return one;
}

function told(one: AgentCase): string[] {
  return one.model.results('main').map(({ text }) => one.neutral(text));
}

const unable = !checkSandbox().ok;
const CLAUDE = CLIENTS.filter(({ name }) => name === 'claude');

describe.skipIf(lacking(unable, 'there is no bwrap')).each(CLAUDE)(
  '$name in its sandbox',
  (client) => {
    it.each([
      ['cuff init', { init: ['--shell', '--hooks'] }],
      ['the plugin', { args: ['--plugin-dir', PLUGIN] }],
    ])('tells its model the same by %s, and each command has one entry', async (_, cuff) => {
      await using bare = await worked(client, {});
      await using one = await worked(client, cuff);
      expect(told(bare)[1]).toContain('Read-only file system');
      expect(told(one)).toEqual(told(bare));
      const entries = COMMANDS.map((command) => ({ command, source: 'shell' }));
      expect(one.entries()).toMatchObject(entries);
      expect(one.entries()).toHaveLength(COMMANDS.length);
    });

    it('runs nothing that is denied, without a hook', async () => {
      await using one = await worked(client, { init: ['--shell'], policy: POLICY });
      expect(told(one)[1]).toMatch(/Exit code 126\ncuff policy: denied/);
      expect(existsSync(join(one.project, 'made'))).toBe(false);
    });
  },
);
