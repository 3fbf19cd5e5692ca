// `${NAME}` in a string of the settings is the value of that variable; `$${` is a literal `${`. A
// variable that is not set is a problem, never an empty string.

import type { Env } from '../types.ts';

export type Expanded = {
  readonly text: string;
  readonly problems: readonly string[];
  /** The variables that went in, so that no message needs to show what is in them. */
  readonly used: readonly string[];
};

const PATTERN = /\$\$\{|\$\{([^}]*)(\}?)/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function expand(source: string, env: Env): Expanded {
  const problems: string[] = [];
  const used: string[] = [];
  const text = source.replace(PATTERN, (match: string, name = '', closed = '') => {
    if (match === '$${') return '${';
    if (closed === '') {
      problems.push('the brace of ${ is never closed; write $${ for a literal ${');
      return match;
    }
    const value = NAME.test(name) ? env[name] : undefined;
    if (value !== undefined) {
      used.push(name);
      return value;
    }
    problems.push(
      NAME.test(name)
        ? `the variable ${name} is not set; set it, or write $\${${name}} for the text itself`
        : '${ is not followed by the name of a variable; write $${ for a literal ${',
    );
    return match;
  });
  return { text, problems, used };
}
