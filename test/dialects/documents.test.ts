// docs/dialects: every dialect has a page of one form, its call is one that the golden table makes,
// and its answers are those of the golden files.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { World } from '../recorder/helper.ts';
import { TABLE } from './cases/table.ts';
import { expectDocumented } from './documented.ts';
import type { GoldenDialect } from './golden.ts';

const DOCS = join(import.meta.dirname, '..', '..', 'docs');
const CALL = /<!-- call: ([\w-]+) -->\n+```json\n(.*?)\n```\n+<!-- golden: \1 -->/gs;

/** What each page has, in any order. */
const SECTIONS = [
  /^## For whom$/m,
  /^## The tools?$/m,
  /^## A call$/m,
  /^## Settings$/m,
  /^## What is different from /m,
];

/** The keys that all dialects have; docs/settings.md explains them. */
const COMMON = [
  'recording',
  'working_directory',
  'environment',
  'env_overrides',
  'max_live_runs',
  'on_shutdown',
];

const read = (name: string) => readFileSync(join(DOCS, name), 'utf8');

/** Calls whose answer fills the golden file, as a client would send them. */
function callsFor({ name, cases }: GoldenDialect, golden: string): unknown[] {
  return cases
    .flatMap(({ steps }) => steps)
    .filter((step) => step.golden === golden)
    .flatMap((step) => ('tool' in step ? [step] : []))
    .map(({ tool, args }) => ({ name: nameOf(name, tool), arguments: args }));
}

/** Plugins whose tools are listed with the plugin's name in front. */
function nameOf(dialect: string, tool: string): string {
  return ['bash_recorder', 'derun'].includes(dialect) ? `${dialect}_${tool}` : tool;
}

type Schema = { readonly properties?: Readonly<Record<string, Schema>> };

function settingsOf(dialect: string): string[] {
  const schema: Schema = JSON.parse(read('settings.schema.json'));
  const config = schema.properties?.plugins?.properties?.[dialect]?.properties?.config;
  const { recording: _, execution, ...own } = config?.properties ?? {};
  return Object.keys({ ...own, ...execution?.properties }).filter((key) => !COMMON.includes(key));
}

describe.each(TABLE.map((dialect) => [dialect.name, dialect] as const))(
  'the page of %s',
  (name, dialect) => {
    const path = `dialects/${name}.md`;

    it('says for whom it is, and has tools, a call, settings and differences', () => {
      expect(SECTIONS.filter((section) => !section.test(read(path)))).toEqual([]);
    });

    it('shows a call that is really made, and answers that are really given', () => {
      const calls = [...read(path).matchAll(CALL)];
      expect(calls.length).toBeGreaterThan(0);
      for (const [, golden = '', block = ''] of calls) {
        expect(callsFor(dialect, golden), golden).toContainEqual(JSON.parse(block));
      }
      expect(expectDocumented(`docs/${path}`, name, dialect.extension)).not.toEqual([]);
    });

    it('names every tool and every setting of its own', async () => {
      const world = dialect.world?.() ?? new World();
      const tools = (await world.open(dialect.plugin)).getTools();
      const words = [...tools.map((tool) => nameOf(name, tool.name)), ...settingsOf(name)];
      const page = read(path);
      const named = (word: string) => new RegExp(`\\b${word}\\b`).test(page);
      expect(words.filter((word) => !named(word))).toEqual([]);
    });
  },
);

it('docs/README.md links every page, in the order to read them', () => {
  const links = [...read('README.md').matchAll(/\]\(dialects\/(\w+)\.md\)/g)];
  const order = 'bash_recorder cuff_shell claude_code codex pipe_bash phoenix_bash derun';
  expect(links.map(([, name]) => name)).toEqual(order.split(' '));
  expect(order.split(' ').toSorted()).toEqual(TABLE.map(({ name }) => name));
});
