// `[[ ... ]]`: `-eq` and its like evaluate both sides as arithmetic, `-v` evaluates a subscript.

import type { TestExpression, Word } from '../../text/shell-tree.ts';
import { type Place, type Run, spanIn } from './run.ts';
import type { State } from './state.ts';
import type { Visitor } from './visit.ts';

const EVALUATES = /^-(?:eq|ne|lt|le|gt|ge)$/;
const NAMED = /^[A-Za-z_]\w*(?:\[(?:\d+|[@*])\])?$/;

export function checkTest(
  node: TestExpression,
  visitor: Visitor,
  run: Run,
  place: Place,
  state: State,
): void {
  switch (node.type) {
    case 'TestBinary':
      if (EVALUATES.test(node.operator)) for (const side of [node.left, node.right]) number(side);
      break;
    case 'TestUnary':
      if (/^-[vR]$/.test(node.operator) && !NAMED.test(node.operand.text)) {
        run.problem('subscript', spanIn(place.frame, node), '`-v` would evaluate a subscript');
      }
      break;
    case 'TestLogical':
      for (const operand of node.operands) checkTest(operand, visitor, run, place, state);
      break;
    case 'TestNot':
      checkTest(node.operand, visitor, run, place, state);
      break;
    case 'TestGroup':
      checkTest(node.expression, visitor, run, place, state);
      break;
  }

  function number(word: Word): void {
    visitor.arithmetic(word.pos, word.end, word);
  }
}
