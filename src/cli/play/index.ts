// The parser of `cuff play`.

import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { duration } from '../arguments.ts';
import { examples } from '../help.ts';

const SPEED_MIN = 0.25;
const SPEED_MAX = 16;

export function addPlayCommand(top: Command, id: string): void {
  top
    .command('play')
    .description('a run in this terminal, as it was printed and when')
    .addArgument(new Argument('<id>', id))
    .addOption(new Option('--idle <duration>', 'shorten longer pauses to this').argParser(duration))
    .addOption(new Option('--speed <n>', 'from 0.25 to 16').argParser(speed).default(1))
    .addHelpText(
      'after',
      `
Keys:
  space   play, or pause
  , .     to the output before, or the next one
  < >     slower, faster
  0-9     to that tenth of the run
  q       quit`,
    )
    .addHelpText('after', examples('cuff play 1a2b', 'cuff play 1a2b --idle 2s --speed 4'))
    .action(async (part, options) => (await import('./play.ts')).play(part, options));
}

function speed(text: string): number {
  const value = /^\d{1,2}(\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (value < SPEED_MIN || value > SPEED_MAX) {
    throw new InvalidArgumentError(`It must be a number from ${SPEED_MIN} to ${SPEED_MAX}.`);
  }
  return value;
}
