// The keys of the page, as data: what `?` lists is what is obeyed. A key may be a sequence ("g s").
// No key acts while typing, and none that the browser gives a meaning with Ctrl or Alt, but Ctrl-K.

type KeyRow = {
  readonly keys: readonly string[];
  readonly action: string;
  readonly words: string;
};
export type KeyGroup = { readonly title: string; readonly rows: readonly KeyRow[] };

const row = (keys: string, action: string, words: string): KeyRow => ({
  keys: keys.split(' | '),
  action,
  words,
});

export const GO: KeyGroup = {
  title: 'Go to',
  rows: [
    row('g s', 'go:sessions', 'sessions'),
    row('g f', 'go:search', 'search'),
    row('g l', 'go:live', 'wall of live runs'),
    row('g a', 'go:activity', 'activity'),
    row('g p', 'go:policy', 'policy'),
    row('g v', 'go:verify', 'verify'),
    row('g h', 'go:health', 'health and storage'),
  ],
};

export const ANYWHERE: KeyGroup = {
  title: 'Anywhere',
  rows: [
    row('?', 'help', 'these keys'),
    row('/', 'find', 'find on this page'),
    row('Ctrl+k', 'go:search', 'search everything'),
    row('j | ArrowDown', 'down', 'next row'),
    row('k | ArrowUp', 'up', 'row before'),
    row('Enter', 'open', 'open'),
    row('Escape', 'back', 'back'),
    row('y', 'link', 'copy the link of this view'),
  ],
};

export const BLOCKS: KeyGroup = {
  title: 'Session',
  rows: [
    row(']', 'next', 'next command'),
    row('[', 'previous', 'command before'),
    row('e', 'next-failure', 'next failure'),
    row('E', 'previous-failure', 'failure before'),
    row('c', 'copy', 'copy the command and its output'),
    row('o', 'fold', 'fold or unfold'),
  ],
};

export const LOG: KeyGroup = {
  title: 'Log',
  rows: [
    row('n', 'next-match', 'next match'),
    row('N', 'previous-match', 'match before'),
    row('e', 'next-failure', 'next error'),
    row('E', 'previous-failure', 'error before'),
    row('f', 'follow', 'follow what is printed'),
    row('w', 'wrap', 'wrap long lines'),
    row('a', 'ansi', 'colours, or every byte as it is'),
    row('t', 'times', 'times'),
    row('o', 'fold', 'fold lines that are alike'),
    row('Home', 'top', 'first line'),
    row('End', 'bottom', 'last line'),
    row('PageDown', 'page-down', 'a page down'),
    row('PageUp', 'page-up', 'a page up'),
    row('x', 'kill', 'end the run (asks first)'),
  ],
};

export const PLAYER: KeyGroup = {
  title: 'Player',
  rows: [
    row('Space', 'play', 'play or pause'),
    row('.', 'step', 'one step on'),
    row(',', 'step-back', 'one step back'),
    row('>', 'faster', 'faster'),
    row('<', 'slower', 'slower'),
    ...[...'0123456789'].map((digit) => row(digit, `tenth:${digit}`, `${digit} tenths in`)),
  ],
};

/** What was pressed of a sequence so far, and what to do now. */
export type KeyStep = { readonly pending: string; readonly action?: string };

export function keyStep(groups: readonly KeyGroup[], pending: string, key: string): KeyStep {
  const pressed = pending === '' ? key : `${pending} ${key}`;
  const rows = groups.flatMap((group) => group.rows);
  const found = rows.find((one) => one.keys.includes(pressed));
  if (found !== undefined) return { pending: '', action: found.action };
  if (rows.some((one) => one.keys.some((keys) => keys.startsWith(`${pressed} `)))) {
    return { pending: pressed };
  }
  return pending === '' ? { pending: '' } : keyStep(groups, '', key);
}

type Pressed = {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
};

/** How a key is written above, or nothing for one that is the browser's. */
export function keyName({ key, ctrlKey, metaKey, altKey }: Pressed): string | undefined {
  if (altKey) return undefined;
  if (ctrlKey || metaKey) return key.toLowerCase() === 'k' ? 'Ctrl+k' : undefined;
  if (key === 'Shift' || key === 'Control' || key === 'Meta') return undefined;
  return key === ' ' ? 'Space' : key;
}
