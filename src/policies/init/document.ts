// A preset as the text of a policy file: rules with the remarks that a person needs to change them.

import type { Verdict } from '../../policy/decision.ts';
import { printableJson } from '../../text/printable.ts';
import type { Preset } from './presets.ts';
import type { ProjectFacts } from './project.ts';
import { type PresetGroup, presetGroups } from './rules.ts';

/** A rule that history asks for, and how many of its commands it would have allowed. */
type Suggestion = { readonly pattern: string; readonly gained: number };

export type PresetDocument = {
  readonly preset: Preset;
  readonly facts: ProjectFacts;
  /** What an editor checks the file with: an address or a path relative to the file. */
  readonly schema: string;
  readonly suggestions?: readonly Suggestion[];
};

type Terms = {
  readonly default: Verdict;
  /** The keys behind `default`, each with the remark before it. */
  readonly keys: readonly string[];
  readonly unlisted: string;
};

const TERMS: { readonly [preset in Preset]: Terms } = {
  dev: {
    default: 'ask',
    keys: [
      '# Files of the project may be written, but for protected ones.',
      'version: 2',
      '# Behind `|` of an allowed command, what only reads its input needs no rule.',
      'filters: true',
      '# Hosts that commands may name.',
      'network: ["localhost", "127.0.0.1"]',
    ],
    unlisted: 'For everything else a person is asked.',
  },
  'read-only': {
    default: 'ask',
    keys: ['version: 1'],
    unlisted: 'For everything else, and for whatever writes, a person is asked.',
  },
  ci: {
    default: 'deny',
    keys: ['version: 1'],
    unlisted: 'Everything else is refused: there is no person to ask.',
  },
};

export function presetText({ preset, facts, schema, suggestions = [] }: PresetDocument): string {
  const { default: fallback, keys, unlisted } = TERMS[preset];
  const head = [
    `# yaml-language-server: $schema=${schema}`,
    `# What agents may run in this project: the preset \`${preset}\` for ${kindsOf(facts)}.`,
    `# A command runs if every part of it has a rule. ${unlisted}`,
    '# `*` covers arguments that change nothing else; `<path>` is a file of the project.',
    "# Try a command: cuff policy check 'git status'. After a change: cuff policy lint",
    ...facts.unread.map((one) => `# Not read: ${one}`),
    '',
    `default: ${fallback}`,
    'mode: enforce # `warn` lets everything run and says what it would have refused',
    ...keys,
    ...(preset === 'dev' ? programsOf(facts) : []),
    ...(preset === 'ci' ? ['# A boundary that the kernel holds: sandbox: bwrap'] : []),
    '',
    'policies:',
  ];
  const groups = presetGroups(preset, facts).map(groupText);
  return `${head.join('\n')}\n${groups.join('\n')}${suggested(suggestions)}`;
}

/** They count in a file that a person trusts, as `init` at a terminal makes it. */
function programsOf({ node, python }: ProjectFacts): readonly string[] {
  const folders = [
    ...(node === undefined ? [] : ['node_modules/.bin']),
    ...(python === undefined ? [] : ['.venv/bin', 'venv/bin']),
  ];
  if (folders.length === 0) return [];
  const why = '# In these directories rules mean the programs by their names alone.';
  return [why, `programs: ${printableJson(folders)}`];
}

export function kindsOf({ node, python, rust, go, make, just }: ProjectFacts): string {
  const kinds = [
    node === undefined ? '' : `Node (${node.manager})`,
    python === undefined ? '' : `Python (${python.manager})`,
    rust ? 'Rust' : '',
    go ? 'Go' : '',
    make === undefined ? '' : 'Make',
    just === undefined ? '' : 'just',
  ].filter((kind) => kind !== '');
  return kinds.length === 0 ? 'a project of no known kind' : kinds.join(', ');
}

function groupText({ name, description, rules, left }: PresetGroup): string {
  const lines = [
    `  - name: ${name}`,
    `    description: ${printableJson(description)}`,
    `    commands:${rules.length === 0 ? ' []' : ''}`,
    ...rules.map(({ pattern, paths }) => {
      if (paths === undefined) return `      - ${printableJson(pattern)}`;
      return `      - { pattern: ${printableJson(pattern)}, paths: ${printableJson(paths)} }`;
    }),
    ...(left.length === 0 ? [] : ['      # Take the # away from those that agents may run, too:']),
    ...left.map(({ pattern, why }) => `      # - ${printableJson(pattern)} # ${why}`),
  ];
  return `${lines.join('\n')}\n`;
}

function suggested(suggestions: readonly Suggestion[]): string {
  if (suggestions.length === 0) return '';
  const lines = [
    '',
    '  # What agents ran here before would have needed these most. Take the # away from those that',
    '  # they may run from now on:',
    '  # - name: history',
    '  #   commands:',
    ...suggestions.map(({ pattern, gained }) => {
      return `  #     - ${printableJson(pattern)} # ${gained} x`;
    }),
  ];
  return `${lines.join('\n')}\n`;
}
