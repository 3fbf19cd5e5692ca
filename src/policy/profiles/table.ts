// All profiles, packed: making the tables of some 700 programs takes longer than judging a command,
// and a command needs few of them. The build puts the finished texts in the place of this file
// (scripts/build.mjs), each behind a function that V8 compiles when a command asks for its family.

import { TAR_LETTERS, TAR_WITH_DASH } from './data-archives.ts';
import { BUILD } from './data-build.ts';
import { BUILTINS } from './data-builtins.ts';
import { FILES } from './data-files.ts';
import { GIT } from './data-git.ts';
import { NET } from './data-net.ts';
import { NODE } from './data-node.ts';
import { OPS } from './data-ops.ts';
import { PYTHON, PYTHON_MODULES } from './data-python.ts';
import { SYSTEM } from './data-system.ts';
import { TEXT } from './data-text.ts';
import { FIND } from './find.ts';
import { type PackedFamily, packProfiles } from './pack.ts';

const FAMILIES = {
  ...{ BUILD, PYTHON, NODE, GIT, FIND, TEXT, SYSTEM, OPS, NET, FILES, BUILTINS },
  PYTHON_MODULES,
  TAR: { letters: TAR_LETTERS, dashed: TAR_WITH_DASH },
} as const;

export const TABLE = Object.fromEntries(
  Object.entries(FAMILIES).map(([name, profiles]) => [name, packProfiles(profiles)]),
) as Readonly<Record<keyof typeof FAMILIES, PackedFamily>>;
