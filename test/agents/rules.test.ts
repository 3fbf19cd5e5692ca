// The client's own allow, deny and ask rules: with cuff installed they give the same results as
// without, because its shell is replaced and its commands are not.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AgentCase } from './case.ts';
import { CLIENTS } from './clients/all.ts';
import { type AgentClient, writeConfig } from './clients/client.ts';
import { addTo } from './hooks.ts';
import type { AgentName } from './programs.ts';

/** One command is allowed, one denied, one would be asked about. */
const COMMANDS = ['echo fine', 'touch denied', 'mkdir asked'];

type Rules = {
  readonly args?: readonly string[];
  readonly write?: (one: AgentCase) => void;
};

const RULES: Partial<Record<AgentName, Rules>> = {
  claude: {
    write: ({ home }) =>
      addTo(join(home, '.claude', 'settings.json'), {
        permissions: { allow: ['Bash(echo:*)'], deny: ['Bash(touch:*)'], ask: ['Bash(mkdir:*)'] },
      }),
  },
  codex: {
    args: ['--sandbox', 'danger-full-access'],
    write: ({ home }) =>
      writeConfig(
        join(home, '.codex', 'rules', 'own.rules'),
        [
          'prefix_rule(pattern=["echo"], decision="allow")',
          'prefix_rule(pattern=["touch"], decision="forbidden")',
          'prefix_rule(pattern=["mkdir"], decision="prompt")',
          '',
        ].join('\n'),
      ),
  },
  gemini: {
    write: ({ home }) =>
      addTo(join(home, '.gemini', 'settings.json'), {
        tools: {
          allowed: ['run_shell_command(echo)'],
          exclude: ['run_shell_command(touch)'],
        },
      }),
  },
  qwen: {
    write: ({ home }) =>
      addTo(join(home, '.qwen', 'settings.json'), {
        permissions: {
          allow: ['run_shell_command(echo *)'],
          deny: ['run_shell_command(touch *)'],
          ask: ['run_shell_command(mkdir *)'],
        },
      }),
  },
  opencode: {
    write: ({ home }) =>
      addTo(join(home, '.config', 'opencode', 'opencode.json'), {
        permission: { bash: { 'echo *': 'allow', 'touch *': 'deny', 'mkdir *': 'ask' } },
      }),
  },
  copilot: { args: ['--allow-tool', 'shell(echo)', '--deny-tool', 'shell(touch)'] },
  // pi has no rules about commands: people write them as an extension, as its documents do.
  pi: {
    write: ({ home }) => writeConfig(join(home, '.pi', 'agent', 'extensions', 'gate.ts'), PI_GATE),
  },
};

const PI_GATE = `export default function (pi) {
  pi.on("tool_call", async ({ toolName, input }, { hasUI }) => {
    if (toolName !== "bash") return undefined;
    if (input.command.startsWith("touch")) return { block: true, reason: "no touch" };
    if (input.command.startsWith("mkdir") && !hasUI) return { block: true, reason: "none to ask" };
    return undefined;
  });
}
`;

/** One rule for all commands: what the program says of it, and whether they run. */
const ALL_OR_NONE: Partial<Record<AgentName, readonly (readonly [readonly string[], boolean])[]>> =
  {
    cline: [
      [['--auto-approve', 'true'], true],
      [['--auto-approve', 'false'], false],
    ],
    pi: [
      [[], true],
      [['--exclude-tools', 'bash'], false],
    ],
  };

const RULED = CLIENTS.filter(({ name }) => RULES[name] !== undefined);

/** What the model was told, and which files there are. */
interface Outcome {
  readonly told: readonly string[];
  readonly made: readonly string[];
}

/** Hooks, shell and tools, as `cuff init` gives them; some find their shell only by `cuff exec`. */
async function install(one: AgentCase, client: AgentClient): Promise<void> {
  const parts = ['--hooks', '--shell', '--mcp', '--yes'];
  expect(await one.cuff('init', '--client', client.init, ...parts)).toMatchObject({ code: 0 });
  if (['gemini', 'qwen'].includes(client.name)) one.record();
}

type Work = Rules & { readonly installed: boolean; readonly ran: readonly string[] };

async function worked(
  client: AgentClient,
  { args = [], write, installed, ran }: Work,
): Promise<Outcome> {
  const turns = COMMANDS.map((command) => ({ calls: [client.shell(command)] }));
  await using one = await AgentCase.start(client, { main: turns });
  write?.(one);
  if (installed) await install(one, client);
  await one.agent('work [[main]]', { permissions: 'rules', args });
  await one.quiet();
  const source = client.hasShell ? 'shell' : 'hook';
  const recorded = ran.map((command) => ({ command, exit_code: 0, source }));
  expect(one.entries()).toMatchObject(installed ? recorded : []);
  // Qwen Code, also without us, tells nothing of what a command printed that ended at once.
  const compared = (text: string): string =>
    client.name === 'qwen' ? text.replace(/^Output: .*$/m, 'Output:') : text;
  return {
    told: one.model.results('main').map(({ text }) => compared(one.neutral(text))),
    made: ['denied', 'asked'].filter((name) => existsSync(join(one.project, name))),
  };
}

describe.each(RULED)('the own rules of $name', (client) => {
  it('allow, deny and ask with cuff installed as they do without', async () => {
    const work = { ...RULES[client.name], ran: ['echo fine'] };
    const bare = await worked(client, { ...work, installed: false });
    expect([bare.told[0], bare.made]).toEqual([expect.stringContaining('fine'), []]);
    expect(await worked(client, { ...work, installed: true })).toEqual(bare);
  });
});

describe.each(CLIENTS.filter(({ name }) => ALL_OR_NONE[name]))('all or none in $name', (client) => {
  it.each(ALL_OR_NONE[client.name] ?? [])(
    '%j with cuff installed as without',
    async (args, all) => {
      const work = { args, ran: all ? COMMANDS : [] };
      const bare = await worked(client, { ...work, installed: false });
      expect(bare.made).toEqual(all ? ['denied', 'asked'] : []);
      expect(await worked(client, { ...work, installed: true })).toEqual(bare);
    },
  );
});
