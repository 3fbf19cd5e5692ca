// A second reading of the text, by a scanner that shares nothing with the parser: it only knows
// quotes, comments, here-documents and brackets, and finds where every substitution begins and
// ends. The tree must have one at each of these places and nowhere else. Where the two do not
// agree, one of them is wrong, and the text counts as unreadable.

import { forEachChild, type ParsedScript, type SyntaxNode } from '../../text/shell-tree.ts';
import type { Span } from '../unit.ts';
import { openersOf } from './openers.ts';
import type { Place, Run } from './run.ts';

/** Also of the decoded texts inside of backquotes, which have offsets of their own. */
export function checkOpeners(
  text: string,
  script: ParsedScript,
  place: Place,
  run: Run,
  broken: boolean,
): boolean {
  if (!/[$`<>\\'"]/.test(text)) return true;
  return !broken && check(text, script, place.frame.inPlace, run);
}

function check(text: string, script: ParsedScript, inPlace: boolean, run: Run): boolean {
  const scanned = openersOf(text);
  if (scanned === undefined) return disagree(run, undefined);
  const inTree = new Map<number, number>();
  const stack: SyntaxNode[] = [script];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    switch (node.type) {
      case 'CommandExpansion':
      case 'ProcessSubstitution':
      case 'ArithmeticCommandExpansion': {
        inTree.set(node.pos, node.end);
        run.unseen.add(node);
        const inner = node.script;
        if (inner?.source === undefined) break;
        if (!check(inner.source, inner, false, run)) return false;
        continue;
      }
      case 'ArithmeticExpansion':
      case 'ParameterExpansion':
        inTree.set(node.pos, node.end);
        run.unseen.add(node);
        break;
      case 'Script':
        if (node !== script && (node.errors?.length ?? 0) > 0) {
          run.problem('parse_error', undefined, 'a substitution cannot be read');
        }
        break;
    }
    forEachChild(node, (child) => stack.push(child));
  }
  const wrong =
    [...scanned].find(([at, end]) => inTree.get(at) !== end) ??
    [...inTree].find(([at]) => !scanned.has(at));
  if (wrong === undefined) return true;
  return disagree(run, inPlace ? { from: wrong[0], to: wrong[0] + 1 } : undefined);
}

function disagree(run: Run, span: Span | undefined): false {
  run.problem(
    'hidden_substitution',
    span,
    'where substitutions begin and end cannot be told for sure',
  );
  return false;
}
