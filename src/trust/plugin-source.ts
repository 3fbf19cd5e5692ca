// How settings name the code of a plugin: a built-in by its name, or a file by its path.

/** How seed 000 names a built-in plugin in `module`. */
export const BUILTIN_PREFIX = 'opencuff.plugins.builtin.';

/** A plugin as its settings name it: `module` is absent, a built-in's name, or an absolute path. */
export type PluginSource = { readonly name: string; readonly module: string | undefined };

export function builtinName({ name, module }: PluginSource): string | undefined {
  if (module === undefined) return name;
  return module.startsWith(BUILTIN_PREFIX) ? module.slice(BUILTIN_PREFIX.length) : undefined;
}
