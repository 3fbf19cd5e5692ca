// `cuff init` as its parser knows it; what it does is loaded when it is asked for.

import { type Command, Option } from 'commander';

const EXAMPLES = `
Examples:
  cuff init                        look for clients here and ask
  cuff init --client claude        write .mcp.json and settings.yml
  cuff init --client codex --print only show what to put where
  cuff init --client cursor --remove`;

/** As settings call them; written here because loading them takes longer than showing help. */
export const DIALECT_NAMES = [
  'bash_recorder',
  'cuff_shell',
  'claude_code',
  'codex',
  'pipe_bash',
  'phoenix_bash',
];

export function addInitCommand(program: Command): void {
  const names = ['claude', 'codex', 'cursor', 'vscode', 'opencode'];
  const instead = "these tools instead of those the client's model knows best";
  program
    .command('init')
    .description('give cuff to a client as its shell, and the project a settings file')
    .addOption(new Option('--client <client>', 'which client').choices(names))
    .addOption(new Option('--dialect <name>', instead).choices(DIALECT_NAMES))
    .option('--only', 'a client that can (Codex) is not to work without cuff')
    .option('--print', 'show what belongs into its configuration and write nothing')
    .option('--remove', 'take cuff out again')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', EXAMPLES)
    .action(async (options) => (await import('./run.ts')).init(options));
}
