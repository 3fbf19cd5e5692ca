// What outsiders rely on: the error codes and dialects that are documented, and types that need
// nothing but themselves.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import * as library from '../../src/index.ts';
import { ROOT } from './examples.ts';

const DOCUMENT = readFileSync(join(ROOT, 'docs/library.md'), 'utf8');

/** The first column of the table under a heading. */
function firstColumn(heading: string): string[] {
  const section = DOCUMENT.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1] ?? '');
}

it('every error code is documented, and no other', () => {
  const source = readFileSync(join(ROOT, 'src/errors.ts'), 'utf8');
  const union = /type ErrorCode =\n(.*?);/s.exec(source)?.[1] ?? '';
  const codes = [...union.matchAll(/'(\w+)'/g)].map((match) => match[1] ?? '');
  expect(codes.length).toBeGreaterThan(10);
  expect(firstColumn('Errors')).toEqual(codes);
});

it('every dialect is documented, and no other', () => {
  expect(firstColumn('The tools of a dialect')).toEqual(library.DIALECT_NAMES);
});

it('the library exports these values', () => {
  expect(Object.keys(library).sort()).toEqual([
    'AppError',
    'DIALECT_NAMES',
    'anthropicToolResult',
    'createAnthropicBash',
    'createBashTool',
    'createBashTools',
    'createOpenAIShell',
    'createShell',
    'isAppError',
    'openAIFunctionOutput',
    'toAiSdkTools',
    'toAnthropicTools',
    'toLangChainTools',
    'toOpenAIResponsesTools',
    'toOpenAITools',
  ]);
});

it('its types import nothing but each other: no zod, no SDK, not even those of Node', () => {
  const seen = new Set([join(ROOT, 'dist/types/index.d.ts')]);
  const foreign: string[] = [];
  for (const file of seen) {
    const text = readFileSync(file, 'utf8');
    for (const [, name = ''] of text.matchAll(/(?:from |import\()['"]([^'"]+)['"]/g)) {
      const target = join(dirname(file), name.replace(/\.js$/, '.d.ts'));
      if (name.startsWith('.') && existsSync(target)) seen.add(target);
      else foreign.push(`${file}: ${name}`);
    }
    if (/\b(Buffer|NodeJS|AbortSignal|AbortController)\b/.test(withoutComments(text))) {
      foreign.push(`${file}: a type of Node or the DOM`);
    }
  }
  expect(foreign).toEqual([]);
  expect(seen.size).toBeGreaterThan(10);
});

function withoutComments(text: string): string {
  return text.replace(/\/\*.*?\*\/|\/\/[^\n]*/gs, '');
}
