// `cuff seal`: its subcommands as data for their parser. What each does is in the files beside this
// one, loaded only when it is asked for.

import { type Command, Option } from 'commander';
import { examples, JSON_DOCUMENT } from '../help.ts';

export function addSealCommands(program: Command): void {
  const seal = program
    .command('seal')
    .description('sign what is new in the ledger, and put its root where others keep it')
    .helpCommand('help [subcommand]', 'what a subcommand does')
    .addOption(new Option('--init', 'begin a ledger: the first, or another for a broken one'))
    .option('--json', JSON_DOCUMENT)
    .addHelpText(
      'after',
      examples('cuff seal', 'cuff seal show', 'cuff seal anchor git /srv/evidence.git'),
    )
    .action(async ({ init, json }: SealFlags) => {
      const actions = await import('./actions.ts');
      return init === true ? actions.begin({ json }) : actions.seal({ json });
    });
  seal
    .command('show')
    .description('the code of what is signed, for paper: `cuff verify --at CODE` takes it')
    .option('--json', JSON_DOCUMENT)
    .addHelpText('after', examples('cuff seal show'))
    .action(async (_, command) => (await import('./actions.ts')).show(flagsOf(command)));
  seal
    .command('key')
    .description('the public key of the ledger: for `cuff verify --vkey`, and for witnesses')
    .option('--day', 'that of this day: what is older cannot be signed anew by its thief')
    .addHelpText('after', examples('cuff seal key > ledger.vkey', 'cuff seal key --day | lp'))
    .action(async ({ day }: { day?: boolean }) => {
      return (await import('./actions.ts')).key({ ...(day !== undefined && { day }) });
    });
  seal
    .command('rotate')
    .description('a new key, introduced by the old one, which is destroyed')
    .option('--json', JSON_DOCUMENT)
    .addHelpText('after', examples('cuff seal rotate'))
    .action(async (_, command) => (await import('./person.ts')).rotate(flagsOf(command)));
  seal
    .command('anchor')
    .description('put the signed root there now, whatever the settings say')
    .usage('<kind> [where...]')
    .argument('<kind>', 'journal, file PATH, git REPOSITORY, witness URL VKEY, or print')
    .argument('[where...]', 'a path, a repository, or the address and the key of a witness')
    .option('--json', JSON_DOCUMENT)
    .addHelpText(
      'after',
      examples('cuff seal anchor print', 'cuff seal anchor file /mnt/other/cuff.log'),
    )
    .action(async (kind: string, where: readonly string[], _, command) =>
      (await import('./actions.ts')).anchor([kind, ...where].join(' '), flagsOf(command)),
    );
  seal
    .command('forget')
    .description('say that a journal is gone, and why')
    .argument('<journal>', 'where it was, or its name in the ledger')
    .requiredOption('--why <text>', 'for the ledger, which keeps it')
    .option('--json', JSON_DOCUMENT)
    .addHelpText('after', examples("cuff seal forget ~/old/.cuff/recordings --why 'moved to B'"))
    .action(async (which: string, { why }: { why: string }, command) =>
      (await import('./person.ts')).forget(which, why, flagsOf(command)),
    );
  for (const command of seal.commands) {
    command
      .showHelpAfterError(`Try \`cuff seal help ${command.name()}\`.`)
      .helpOption('-h, --help', 'this text');
  }
}

type SealFlags = { readonly init?: boolean; readonly json?: boolean | undefined };

/** `--json` may stand before the subcommand, too. */
function flagsOf(command: Command): { readonly json: boolean } {
  return { json: command.optsWithGlobals<SealFlags>().json === true };
}
