// Facts about a whole text that do not depend on the order in which it runs: which functions it may
// define, and what it leaves alone from start to end.

import { forEachChild, type ParsedScript, type SyntaxNode } from '../../text/shell-tree.ts';

/** What never changes, whatever runs when. */
export type Steady = {
  readonly home: boolean;
  readonly directory: boolean;
  readonly splits: boolean;
  readonly cdPath: boolean;
};

export const ALL_STEADY: Steady = { home: true, directory: true, splits: true, cdPath: true };

/** Quotes inside of names do not hide them. */
export function steadyIn(text: string, before: Steady): Steady {
  const bare = text.replace(/\\\n|['"\\]/g, '');
  return {
    home: before.home && !/(?<!\$|\$\{)\bHOME\b/.test(bare),
    directory:
      before.directory && !/\b(?:cd|pushd|popd|eval|source|trap)\b|(?:^|[\s;&|({])\.\s/.test(bare),
    splits: before.splits && !/\bIFS\b/.test(bare),
    cdPath: before.cdPath && !/\bCDPATH\b/.test(bare),
  };
}

export function sameSteady(a: Steady, b: Steady): boolean {
  return (
    a.home === b.home &&
    a.directory === b.directory &&
    a.splits === b.splits &&
    a.cdPath === b.cdPath
  );
}

/** Wherever they are defined: a loop may call what stands behind the call. */
export function functionsIn(text: string, script: ParsedScript): readonly string[] {
  if (!/\(|function/.test(text.replaceAll('\\\n', ''))) return [];
  const names: string[] = [];
  const stack: SyntaxNode[] = [script];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node.type === 'Function') names.push(node.name.value);
    forEachChild(node, (child) => stack.push(child));
  }
  return names.reverse(); // the stack has them backwards
}
