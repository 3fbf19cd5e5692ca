// `cuff init` as its parser knows it; what it does is loaded when it is asked for.

import { type Command, Option } from 'commander';
import { AGENT_IDS } from '../../text/agents.ts';

const EXAMPLES = `
Examples:
  cuff init --all                  hooks, shell and tools for every client that is installed
  cuff init --all --dry-run        only show what that would write
  cuff init --client claude --hooks --shell
  cuff init --undo                 give every file back as it was
  cuff init --client claude        only the tools: .mcp.json and settings.yml of this project
  cuff init --client codex --print only show what to put where`;

/** As settings call them; written here because loading them takes longer than showing help. */
export const DIALECT_NAMES = [
  'bash_recorder',
  'cuff_shell',
  'claude_code',
  'codex',
  'pipe_bash',
  'phoenix_bash',
];

/** Without further options these get the tools alone, in the project. */
const SERVER_CLIENTS = ['claude', 'codex', 'cursor', 'vscode', 'opencode'];

/** Options of the longer way, which no call of the shorter one has. */
const PARTS = ['all', 'hooks', 'shell', 'mcp', 'rewrite', 'user', 'project', 'undo'];

export function addInitCommand(program: Command): void {
  const instead = "these tools instead of those the client's model knows best";
  program
    .command('init')
    .description('give cuff to clients: hooks, shell and tools, and a settings file for a project')
    .addOption(new Option('--client <client...>', 'which client').choices(AGENT_IDS))
    .addOption(new Option('--all', 'every client that is installed').conflicts('client'))
    .option('--hooks', 'its hooks ask cuff before each command (without one of the three: all)')
    .option('--shell', 'its commands run in the shell that records')
    .option('--mcp', "it gets cuff's tools")
    .addOption(new Option('--dialect <name>', instead).choices(DIALECT_NAMES))
    .option('--only', "without the client's own shell, where it can be taken away")
    .option('--rewrite', 'where a shell cannot be replaced, replace the command (its rules suffer)')
    .option('--user', 'in the files of your home (default, with the options above)')
    .addOption(new Option('--project', 'in the files of this directory').conflicts('user'))
    .option('--dry-run', 'show what would be written and write nothing')
    .option('--undo', 'give the files back as they were')
    .addOption(
      new Option('--print', 'show what belongs into its configuration and write nothing').conflicts(
        PARTS,
      ),
    )
    .addOption(new Option('--remove', 'take the tools out again').conflicts(PARTS))
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', EXAMPLES)
    .action(async (options) => {
      if (isServerOnly(options)) return (await import('./run.ts')).initServers(options);
      return (await import('./install.ts')).install(options);
    });
}

function isServerOnly(options: { readonly client?: readonly string[] }): boolean {
  if (PARTS.some((name) => name in options)) return false;
  return (options.client ?? []).every((client) => SERVER_CLIENTS.includes(client));
}
