// The shells that there are, and how each takes a script that is written for bash.

import { baseName } from './base-name.ts';

/**
 * `bash`: as it is. `posix`: what the standard knows, alike. `similar`: it has expansions of its
 * own. `other`: another language.
 */
type ShellKind = 'bash' | 'posix' | 'similar' | 'other';

const SHELLS: ReadonlyMap<string, ShellKind> = new Map([
  ...kind('bash', 'bash rbash'),
  ...kind('posix', 'sh dash ash'),
  ...kind('similar', 'zsh ksh mksh'),
  ...kind('other', 'fish csh tcsh ysh yash pdksh posh lksh oksh hush osh pdsh'),
  ...kind('other', 'pwsh nu elvish xonsh rc es ion'),
]);

function kind(one: ShellKind, names: string): readonly (readonly [string, ShellKind])[] {
  return names.split(' ').map((name) => [name, one]);
}

/** Of a name without directory and version. */
export function shellKind(name: string): ShellKind | undefined {
  return SHELLS.get(name);
}

/** `["bash", "-lc", TEXT]` is what TEXT says; undefined: it is another command line. */
export function shellText(argv: readonly string[]): string | undefined {
  const [shell = '', option = '', text] = argv;
  if (argv.length !== 3 || !/^-l?c$/.test(option)) return undefined;
  const name = baseName(shell);
  const kind = shellKind(name);
  // Agents of macOS run `zsh`.
  return kind === 'bash' || kind === 'posix' || name === 'zsh' ? text : undefined;
}
