// The shells that there are, and how each takes a script that is written for bash.

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
