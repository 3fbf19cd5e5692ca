// Lines that an answer gets because of what a command of its conversation did beside its output.

import { printable, shortLine } from '../text/printable.ts';

const COMMAND_SHOWN_MAX = 80;
const NAMES_SHOWN_MAX = 5;

/** Names variables, never their values. */
export function leakedText(command: string, leaked: readonly string[]): string {
  const what = shownNames(leaked);
  const ran = shortLine(command, COMMAND_SHOWN_MAX);
  return `[secret: \`${ran}\` printed the value of ${what}; tell the person: cuff record leaks]`;
}

/** Protected files that are others now. */
export function changedText(command: string, changed: readonly string[]): string {
  const what = shownNames(changed);
  const ran = shortLine(command, COMMAND_SHOWN_MAX);
  return (
    `[policy: protected files changed while \`${ran}\` ran: ${what}. ` +
    'No further command runs here until the person has looked: cuff policy changes]'
  );
}

function shownNames(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN_MAX;
  const which = names.slice(0, NAMES_SHOWN_MAX).map(printable).join(', ');
  return `${which}${more > 0 ? ` and ${more} more` : ''}`;
}
