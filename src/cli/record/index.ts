// `cuff record`: registers the subcommands that `record-commands.ts` declares. Each is loaded when
// it is asked for; its words are parsed by what it declares, so commander only finds it.

import type { Command } from 'commander';
import {
  commandHelp,
  groupHelp,
  RECORD_COMMANDS,
  type RecordCommand,
} from '../../recordings/commands.ts';
import { reporting } from './fail.ts';
import { type Flags, parseFlags } from './flags.ts';

type Handler = (flags: Flags) => Promise<void>;

const HANDLERS: Readonly<Record<string, () => Promise<Handler>>> = {
  list: async () => (await import('./list.ts')).list,
  show: async () => (await import('./show.ts')).show,
  stats: async () => (await import('./stats.ts')).stats,
  generate: async () => (await import('./generate.ts')).generate,
  clean: async () => (await import('./clean.ts')).clean,
  export: async () => (await import('./export.ts')).exportRecordings,
  search: async () => (await import('./search.ts')).search,
  reindex: async () => (await import('./reindex.ts')).reindex,
  import: async () => (await import('./import.ts')).importFile,
  review: async () => (await import('./review.ts')).review,
  leaks: async () => (await import('./leaks.ts')).leaks,
};

export function addRecordCommands(program: Command): void {
  const record = program
    .command('record')
    .description('list, show, count, search, export and clean what agents ran')
    .usage('<subcommand>')
    .helpCommand('help [subcommand]', 'what a subcommand does');
  // Not by configureHelp: the parent command passes its own on to all of its commands.
  record.helpInformation = groupHelp;
  for (const command of RECORD_COMMANDS) {
    const one = record
      .command(command.name)
      .description(command.summary)
      .argument('[words...]')
      .allowUnknownOption()
      .helpOption('-h, --help', 'this text')
      .action((_words, _options, self: Command) => perform(command, self.args));
    one.helpInformation = () => commandHelp(command);
  }
}

async function perform(command: RecordCommand, args: readonly string[]): Promise<void> {
  await reporting(async () => {
    const flags = parseFlags(command, args);
    const handler = await HANDLERS[command.name]?.();
    await handler?.(flags);
  });
}
