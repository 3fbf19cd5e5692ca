// `cuff ui`: the dashboard, declared here; the server is loaded when it is asked for.

import { type Command, InvalidArgumentError, Option } from 'commander';
import { examples } from './help.ts';

export function addUiCommand(program: Command): void {
  program
    .command('ui')
    .description('see what happened, in a browser: sessions, runs, search, policy, evidence')
    .addOption(
      new Option('--port <n>', 'the port (default: the one of the last time)').argParser(port),
    )
    .option('--no-open', 'print the address, and start no browser')
    .option('--read-only', 'change nothing from the page (default in CI and inside of a run)')
    .addHelpText('after', examples('cuff ui', 'cuff ui --no-open --port 8123'))
    .action(async (options) => (await import('./ui-server.ts')).ui(options));
}

const PORT_MAX = 65_535;

function port(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (value > 0 && value <= PORT_MAX) return value;
  throw new InvalidArgumentError(`It must be a number from 1 to ${PORT_MAX}.`);
}
