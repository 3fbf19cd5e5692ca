// Which variables the body of a loop may change, and whether it may go elsewhere: what is known
// before the loop is only known inside of it when the loop leaves it alone. By the text of the
// body alone, and rather too much than too little.

import { forEachChild, type SyntaxNode, type Word } from '../../text/shell-tree.ts';
import type { Run } from './run.ts';
import { isInteger, type State } from './state.ts';

export type Changes = {
  /** Names, and whether they only ever get numbers. */
  readonly names: Map<string, boolean>;
  directory: boolean;
  everything: boolean;
};

const ASSIGNS = new Set([
  'read',
  'mapfile',
  'readarray',
  'printf',
  'getopts',
  'declare',
  'typeset',
  'local',
  'export',
  'readonly',
  'let',
  'unset',
  'wait',
  'command',
  'builtin',
  'set',
  'shift',
]);
const GOES = /^(?:cd|pushd|popd)$/;
const EVERYTHING = /^(?:eval|source|\.|trap|shopt|alias|unalias)$/;

export function changesIn(node: SyntaxNode, run: Run): Changes {
  const changes: Changes = { names: new Map(), directory: false, everything: false };
  look(node, changes, run);
  return changes;
}

export function applyChanges(changes: Changes, state: State): void {
  if (changes.everything) {
    state.forget();
    return;
  }
  for (const [name, number] of changes.names) {
    const before = state.value(name);
    const counts = before === 'number' || before?.every(isInteger) === true;
    state.set(name, number && counts ? 'number' : undefined);
  }
  if (changes.directory) state.cwds = undefined;
}

function change(changes: Changes, name: string, number: boolean): void {
  changes.names.set(name, number && changes.names.get(name) !== false);
}

function look(node: SyntaxNode, changes: Changes, run: Run): void {
  switch (node.type) {
    case 'Subshell':
    case 'CommandExpansion':
    case 'ProcessSubstitution':
    case 'ArithmeticCommandExpansion':
      return; // they have a shell of their own
    case 'Pipeline':
      if (node.commands.length > 1) return;
      break;
    case 'Statement':
      if (node.background === true) return;
      break;
    case 'Assignment': {
      const text = node.value.type === 'Word' ? node.value.text : '';
      const number = /^(?:\$\(\([\s\S]*\)\)|[+-]?\d{1,18})$/.test(text) && node.append !== true;
      change(changes, node.name, number);
      break;
    }
    case 'For':
    case 'Select':
    case 'Coproc':
      change(changes, node.name?.text.replaceAll('\\\n', '') ?? 'COPROC', false);
      if (node.type === 'Coproc') return;
      break;
    case 'ParameterExpansion':
      if (node.operation?.type === 'Default') change(changes, node.parameter, false);
      break;
    case 'ArithmeticExpansion':
    case 'ArithmeticCommand':
      for (const name of names(node.type === 'ArithmeticCommand' ? node.body : node.text)) {
        change(changes, name, true);
      }
      break;
    case 'ArithmeticWord':
      for (const name of names(node.value)) change(changes, name, true);
      break;
    case 'FileDescriptorVariable':
      change(changes, node.name, false);
      break;
    case 'Command': {
      const { name } = node;
      if (name !== undefined) command(name, node.args, changes, run);
      break;
    }
  }
  forEachChild(node, (child) => look(child, changes, run));
}

function names(text: string): readonly string[] {
  return text.match(/[A-Za-z_]\w*/g) ?? [];
}

function command(
  name: Word,
  args: readonly { readonly text: string }[],
  changes: Changes,
  run: Run,
): void {
  const first = name.value;
  const plain = name.parts === undefined || /^[\w.\\'"/-]+$/.test(name.text);
  if (!plain || EVERYTHING.test(first) || run.functions.has(first)) changes.everything = true;
  if (GOES.test(first)) changes.directory = true;
  if (!ASSIGNS.has(first)) return;
  for (const { text } of args) {
    for (const one of names(text.replace(/['"\\]/g, ''))) {
      change(changes, one, false);
      if (EVERYTHING.test(one)) changes.everything = true;
      if (GOES.test(one)) changes.directory = true;
      // `command "$x"`
      if (/\$/.test(text) && /^(?:command|builtin)$/.test(first)) changes.everything = true;
    }
    if (/^\$|^\.$/.test(text) && /^(?:command|builtin)$/.test(first)) changes.everything = true;
  }
}
