// docs/import.md says which versions were tried, which variables are honoured and which kinds of
// findings there are: it has to say the same as the code.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REVIEW_KINDS } from '../../../src/recordings/commands.ts';
import { TRANSCRIPT_AGENTS } from '../../../src/recordings/transcripts/agents.ts';
import { AGENTS } from '../../../src/text/agents.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const PAGE = readFileSync(join(ROOT, 'docs', 'import.md'), 'utf8');

it.each(TRANSCRIPT_AGENTS)('has a row for %s with the version it was tried with', (agent) => {
  const { title, triedWith } = AGENTS[agent];
  const row = PAGE.split('\n').find((line) => line.startsWith(`| ${title} |`));
  expect(row).toContain(`| ${triedWith ?? 'not tried'}`);
});

it('names every variable that is honoured, and no other', () => {
  const places = readFileSync(join(ROOT, 'src/recordings/transcripts/places.ts'), 'utf8');
  const honoured = [...places.matchAll(/env\.([A-Z_]+)/g)].map(([, name]) => name);
  const named = [...PAGE.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, name]) => name);
  expect(new Set(named)).toEqual(new Set(honoured));
});

it('lists the kinds of findings in their order', () => {
  const [, list = ''] = /The kinds are ([\s\S]*?) \(half of/.exec(PAGE) ?? [];
  expect([...list.matchAll(/`([\w-]+)`/g)].map(([, kind]) => kind)).toEqual([...REVIEW_KINDS]);
});
