// Paths in what people read.

import { join, relative } from 'node:path';
import { homeOf } from '../../places.ts';
import { printable } from '../../text/printable.ts';

/** A path as people write it: from here on, or from the home on. */
export function shown(path: string): string {
  const here = relative(process.cwd(), path);
  if (here !== '' && !here.startsWith('..')) return printable(here);
  const home = relative(homeOf(process.env), path);
  return printable(home !== '' && !home.startsWith('..') ? join('~', home) : path);
}
