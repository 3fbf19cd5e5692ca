import { describe, expect, it } from 'vitest';
import { ANYWHERE, BLOCKS, GO, keyName, keyStep, LOG, PLAYER } from '../../web/core/keys.ts';

const pressed = (key: string, held: Partial<Record<'ctrlKey' | 'metaKey' | 'altKey', true>> = {}) =>
  keyName({ key, ctrlKey: false, metaKey: false, altKey: false, ...held });

describe('the keys', () => {
  const base = [GO, ANYWHERE];

  it('obeys one key, and two one after the other', () => {
    expect(keyStep(base, '', 'j')).toEqual({ pending: '', action: 'down' });
    expect(keyStep(base, '', 'g')).toEqual({ pending: 'g' });
    expect(keyStep(base, 'g', 's')).toEqual({ pending: '', action: 'go:sessions' });
  });

  it('takes a second key that fits nothing for a new one', () => {
    expect(keyStep(base, 'g', 'j')).toEqual({ pending: '', action: 'down' });
    expect(keyStep(base, 'g', 'Q')).toEqual({ pending: '' });
    expect(keyStep(base, '', 'Q')).toEqual({ pending: '' });
  });

  it('leaves the browser its own', () => {
    expect(pressed('c', { ctrlKey: true })).toBeUndefined();
    expect(pressed('ArrowLeft', { altKey: true })).toBeUndefined();
    expect(pressed('Shift')).toBeUndefined();
    expect(pressed('k', { metaKey: true })).toBe('Ctrl+k');
    expect(pressed(' ')).toBe('Space');
  });

  it('has no key twice on any page', () => {
    for (const page of [[BLOCKS], [LOG], [PLAYER], []]) {
      const keys = [...base, ...page].flatMap(({ rows }) => rows.flatMap((row) => row.keys));
      expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
    }
  });
});
