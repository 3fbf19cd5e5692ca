// The command in the wrapper that Codex puts around it once it has a snapshot of the user's shell:
// variables are kept, the snapshot is sourced, the variables are put back, and the command gets a
// shell of its own. Codex' model can choose a shell without any wrapper and write such a text
// itself, so only the exact form counts, and only where nothing in it can be the model's: the
// snapshot is one of Codex', the search path names no new directory, the shell is the system's.

import { dirname, join } from 'node:path';
import { realOf } from '../../places.ts';
import type { Env } from '../../types.ts';

export type CodexSurroundings = {
  readonly env: Env;
  /** The program that gets the text. */
  readonly real: string;
};

type Kept = { readonly prefix: string; readonly at: string; readonly name: string };

const KEPT =
  /(__CODEX_SNAPSHOT_(?:PROXY_)?OVERRIDE)_SET_(\d+)="\$\{(?!\d)(\w+)\+x\}"\n\1_\2="\$\{\3-\}"\n/y;
const PROXY = '__CODEX_SNAPSHOT_PROXY_OVERRIDE';
const PROXY_ACTIVE = `\${CODEX_NETWORK_PROXY_ACTIVE+x}`;
const PROXY_SET = `__CODEX_SNAPSHOT_PROXY_ENV_SET="${PROXY_ACTIVE}"\n`;
const PROXY_HEAD = `if [ -n "$__CODEX_SNAPSHOT_PROXY_ENV_SET" ] || [ -n "${PROXY_ACTIVE}" ]; then`;
const SNAPSHOT = /\nif \. '([^']+)' >\/dev\/null 2>&1; then :; fi\n\n/y;
const SNAPSHOT_NAME = /^[\w-]+(\.\d+)?\.sh$/;
const PATH =
  /\nif \[ -n "\$\{PATH:-\}" \]; then export PATH='([^']+)':"\$PATH"; else export PATH='\1'; fi/y;
const EXEC = /\n\nexec '([^']+)' -c ((?:'[^']*'|"'")+)$/y;
const SHELL = /^\/(usr\/(local\/)?)?bin\/(ba|z|da)?sh$/;

/** Undefined for a text of another form. */
export function fromCodex(text: string, { env, real }: CodexSurroundings): string | undefined {
  let at = 0;
  const take = (form: RegExp): RegExpExecArray | null => {
    form.lastIndex = at;
    const found = form.exec(text);
    if (found !== null) at += found[0].length;
    return found;
  };
  const skip = (words: string): boolean => {
    const has = text.startsWith(words, at);
    if (has) at += words.length;
    return has;
  };
  const kept: Kept[] = [];
  for (let one = take(KEPT); one !== null; one = take(KEPT)) {
    const [, prefix = '', number = '', name = ''] = one;
    kept.push({ prefix, at: number, name });
  }
  const proxies = skip(PROXY_SET);
  const snapshot = take(SNAPSHOT)?.[1];
  if (!inOrder(kept) || snapshot === undefined || !isSnapshot(snapshot, env)) return undefined;
  if (!RESTORES.some((restore) => skip(restored(kept, proxies, restore)))) return undefined;
  for (let path = take(PATH); path !== null; path = take(PATH)) {
    if (!(env.PATH ?? '').split(':').includes(path[1] ?? '')) return undefined;
  }
  const [, shell = '', word = ''] = take(EXEC) ?? [];
  if (shell !== real && !SHELL.test(shell)) return undefined;
  return word.replaceAll(/'([^']*)'|"(')"/g, '$1$2');
}

/** Each number once: a second one would put the value of one variable into another. */
function inOrder(kept: readonly Kept[]): boolean {
  const seen = new Map<string, number>();
  return kept.every(({ prefix, at }) => {
    const next = seen.get(prefix) ?? 0;
    seen.set(prefix, next + 1);
    return at === String(next);
  });
}

function isSnapshot(path: string, { CODEX_HOME, HOME }: Env): boolean {
  const home = CODEX_HOME || join(HOME || '/nowhere', '.codex');
  const here = realOf(dirname(path)) === realOf(join(home, 'shell_snapshots'));
  return here && SNAPSHOT_NAME.test(path.slice(dirname(path).length + 1));
}

/** As Codex 0.166 writes it, and as versions before it did. */
const RESTORES: readonly ((kept: Kept) => string)[] = [
  ({ prefix, at, name }) => {
    const [set, value] = [`${prefix}_SET_${at}`, `${prefix}_${at}`];
    return `if [ -n "\${${set}}" ]; then
  if [ -z "\${${name}+x}" ] || [ "\${${name}-}" != "\${${value}}" ]; then \
export ${name}="\${${value}}"; else export ${name}; fi
else builtin unset ${name} 2>/dev/null || command unset ${name}; fi
builtin unset ${set} ${value} 2>/dev/null || command unset ${set} ${value}`;
  },
  ({ prefix, at, name }) =>
    `if [ -n "\${${prefix}_SET_${at}}" ]; then export ${name}="\${${prefix}_${at}}"; \
else unset ${name}; fi`,
];

function restored(kept: readonly Kept[], proxies: boolean, restore: (one: Kept) => string): string {
  const own = kept.filter(({ prefix }) => prefix !== PROXY).map(restore);
  const others = kept.filter(({ prefix }) => prefix === PROXY).map(restore);
  return [...own, ...(proxies ? [PROXY_HEAD, ...others, 'fi'] : others)].join('\n');
}
