// The page's script against as much of a document as it uses: there is no browser to ask.
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { SCRIPT } from '../../src/text/html-log-assets.ts';

type Control = { value: string; textContent: string; onclick: () => void; oninput: () => void };
type Item = { hidden: boolean; textContent: string; open: boolean; now: boolean };

function page(...texts: readonly string[]) {
  const items: Item[] = texts.map((textContent) => ({
    hidden: false,
    textContent,
    open: false,
    now: false,
  }));
  const elements = items.map((item) => {
    const details = {
      set open(value: boolean) {
        item.open = value;
      },
    };
    const classList = {
      add: () => {
        item.now = true;
      },
      remove: () => {
        item.now = false;
      },
    };
    const own = { classList, querySelector: () => details, scrollIntoView: () => undefined };
    return Object.defineProperties(own, {
      hidden: { get: () => item.hidden, set: (value) => (item.hidden = value) },
      textContent: { get: () => item.textContent },
    });
  });
  const section = { hidden: false, querySelector: () => items.some(({ hidden }) => !hidden) };
  const none = (): void => undefined;
  const control = (): Control => ({ value: '', textContent: '', onclick: none, oninput: none });
  const controls = { find: control(), play: control(), open: control(), said: control() };
  const timers: { tick?: (() => void) | undefined; later?: () => void } = {};
  const found: Record<string, readonly unknown[]> = { li: elements, section: [section] };
  runInNewContext(SCRIPT, {
    document: {
      getElementById: (id: keyof typeof controls) => controls[id],
      querySelectorAll: (what: string) =>
        what === 'li.now' ? elements.filter((_, i) => items[i]?.now) : (found[what] ?? []),
    },
    setInterval: (tick: () => void) => {
      timers.tick = tick;
      return 1;
    },
    clearInterval: () => {
      timers.tick = undefined;
    },
    setTimeout: (later: () => void) => {
      timers.later = later;
      return 1;
    },
    clearTimeout: () => undefined,
  });
  return { items, section, controls, timers };
}

it('finds entries by what is in them', () => {
  const { items, section, controls, timers } = page('npm test ok', 'git status', 'npm run build');
  expect(controls.said.textContent).toBe('3 commands');
  const type = (text: string): void => {
    controls.find.value = text;
    controls.find.oninput();
    timers.later?.();
  };
  type('NPM');
  expect(items.map(({ hidden }) => hidden)).toEqual([false, true, false]);
  expect(controls.said.textContent).toBe('2 commands of 3');
  type('zzz');
  expect([section.hidden, controls.said.textContent]).toEqual([true, '0 commands of 3']);
  type('');
  expect([section.hidden, items.every(({ hidden }) => !hidden)]).toEqual([false, true]);
});

it('plays the entries in order, can be paused, and ends with all of them shown', () => {
  const { items, controls, timers } = page('a', 'b', 'c');
  const shown = (): boolean[] => items.map(({ hidden }) => !hidden);
  controls.play.onclick();
  expect([shown(), controls.play.textContent]).toEqual([[true, false, false], 'Pause']);
  timers.tick?.();
  expect([shown(), items.map(({ now }) => now)]).toEqual([
    [true, true, false],
    [false, true, false],
  ]);
  controls.play.onclick();
  expect([timers.tick, controls.play.textContent]).toEqual([undefined, 'Play']);
  controls.play.onclick();
  expect([shown(), controls.said.textContent]).toEqual([[true, true, true], '3 of 3']);
  timers.tick?.();
  expect([timers.tick, controls.play.textContent]).toEqual([undefined, 'Play']);
  expect(items.every(({ open, now }) => open && !now)).toBe(true);
});
