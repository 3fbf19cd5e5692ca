// What outsiders rely on: the error codes and dialects that are documented, and types that need
// nothing but themselves.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import * as library from '../../src/index.ts';
import type { StartOptions } from '../../src/shell/shell.ts';
import { START_OPTIONS } from '../../src/shell/validate.ts';
import { ROOT } from './examples.ts';
import { home } from './home.ts';

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

const START: Readonly<Record<keyof StartOptions, true>> = {
  id: true,
  cwd: true,
  env: true,
  transport: true,
  stdin: true,
  killAfterMs: true,
  graceMs: true,
  retentionSeconds: true,
  size: true,
  output: true,
  shown: true,
  journal: true,
  owner: true,
  keptBytes: true,
  trace: true,
  traceEnv: true,
  gate: true,
  sandbox: true,
  signal: true,
};

it('every option of start is known and documented, and no other is taken', async () => {
  expect([...START_OPTIONS].sort()).toEqual(Object.keys(START).sort());
  const table = DOCUMENT.split('Options of `start`;')[1]?.split('\nA run has')[0] ?? '';
  const documented = [...table.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  expect(documented.sort()).toEqual([...START_OPTIONS].sort());
  const shell = library.createShell({ stateRoot: home().options.stateRoot });
  const options = { timeout: 5 } as unknown as StartOptions;
  expect(() => shell.start('true', options)).toThrow(
    'start has no option "timeout"; docs/library.md lists those it has.',
  );
  shell.close();
});

it('a closed shell starts nothing', () => {
  const shell = library.createShell({ stateRoot: home().options.stateRoot });
  shell.close();
  expect(() => shell.start('true')).toThrow('The shell was closed, so it starts no more runs.');
});

it('an error of the built library shows a line that a person can read', () => {
  const { dir } = home();
  const script = join(dir, 'wrong.mjs');
  const built = JSON.stringify(join(ROOT, 'dist', 'index.js'));
  writeFileSync(
    script,
    `import { createShell } from ${built};
     createShell({ stateRoot: ${JSON.stringify(dir)} }).start(5);\n`,
  );
  const { stderr, status } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toContain("AppError: A command is a text, or { kind: 'argv'");
  expect(Math.max(...stderr.split('\n').map((line) => line.length))).toBeLessThan(300);
});
