// A subcommand on the short way through the program: without the parser that finds subcommands.

import { commandHelp, type RecordCommand } from '../../recordings/commands.ts';
import { putAtOnce } from '../output.ts';
import { reporting } from './fail.ts';
import { type Flags, parseFlags } from './flags.ts';

/** `args` are the words behind the subcommand. */
export async function direct(
  command: RecordCommand,
  perform: (flags: Flags) => Promise<void>,
  args: readonly string[],
): Promise<void> {
  await reporting(async () => {
    if (args.includes('--help') || args.includes('-h')) await putAtOnce(commandHelp(command));
    else await perform(parseFlags(command, args));
  });
}
