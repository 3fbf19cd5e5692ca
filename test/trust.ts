// Trust for the projects of tests, as a person would give it. The list is in the environment's own
// configuration directory, which has to be a temporary one.
import { trustProject } from '../src/trust/trust.ts';

export function trusted(project: string, env: Readonly<Record<string, string | undefined>>): void {
  if (env.XDG_CONFIG_HOME === undefined) throw new Error('name a configuration directory');
  trustProject(project, env);
}
