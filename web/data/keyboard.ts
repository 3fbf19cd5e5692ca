// The keys of what is on the screen: a page says which groups it has and what their actions do; the
// page that came last is asked first. Typing is never taken for a command.
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ANYWHERE, GO, type KeyGroup, keyName, keyStep } from '../core/keys.ts';

export type Actions = Readonly<Record<string, () => void>>;
type Layer = { readonly group: KeyGroup | undefined; readonly actions: () => Actions };

const layers = signal<readonly Layer[]>([]);
let pending = '';

export function groupsShown(): readonly KeyGroup[] {
  const own = layers.value.flatMap(({ group }) => (group === undefined ? [] : [group]));
  return [GO, ANYWHERE, ...new Set(own)];
}

/** `group` is what `?` lists for it, besides the keys that every page has. */
export function useKeys(group: KeyGroup | undefined, actions: Actions): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    const layer: Layer = { group, actions: () => latest.current };
    layers.value = [...layers.value, layer];
    return () => {
      layers.value = layers.value.filter((one) => one !== layer);
    };
  }, [group]);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement)
    return !/^(checkbox|radio|button|range)$/.test(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

/** Keys that a focused control needs for itself. */
function belongsTo(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  const control = target.closest('a, button, summary, input');
  if (control !== null && (key === 'Enter' || key === 'Space')) return true;
  return control instanceof HTMLInputElement && key.startsWith('Arrow');
}

addEventListener('keydown', (event) => {
  const key = keyName(event);
  const { target } = event;
  if (key === undefined || document.querySelector('dialog[open]') !== null) return;
  if (isTyping(target)) {
    if (key === 'Escape') (target as HTMLElement).blur();
    if (key !== 'Ctrl+k') return;
  }
  if (belongsTo(target, key)) return;
  const step = keyStep(groupsShown(), pending, key);
  pending = step.pending;
  if (step.action === undefined) return;
  const { action } = step;
  const act = layers.value.findLast((layer) => layer.actions()[action] !== undefined);
  if (act === undefined) return;
  event.preventDefault();
  act.actions()[action]?.();
});
