// Every command that a document or an example names is one that the programs have.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { binary } from './cli/helper.ts';

const ROOT = join(import.meta.dirname, '..');

/** The subcommands that the help of a command lists. */
function subcommands(program: 'cuff' | 'derun', ...words: string[]): string[] {
  const args = [binary(program), ...words, '--help'];
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const listed = /^(?:Commands|Subcommands):\n((?: {2}.*\n?)*)/m.exec(stdout)?.[1];
  const pattern = listed === undefined ? /^(?:usage:|) +derun ([a-z]+)/gm : /^ {2}([a-z][a-z-]*)/gm;
  return [...(listed ?? stdout).matchAll(pattern)].map(([, name = '']) => name);
}

function documents(): [string, string][] {
  const files = ['docs', 'examples'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name)),
  );
  const all = [...files, join(ROOT, 'README.md'), join(ROOT, 'CONTRIBUTING.md')];
  return all.map((file) => [file.slice(ROOT.length + 1), readFileSync(file, 'utf8')]);
}

/** Fenced blocks and inline code of a document; of an example all of it. */
function codeOf(file: string, text: string): string[] {
  if (!file.endsWith('.md')) return [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  const fenced = [...text.matchAll(/^```[^\n]*\n(.*?)^```$/gms)].map(([, code = '']) => code);
  const rest = text.replace(/^```[^\n]*\n.*?^```$/gms, '');
  const inline = [...rest.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
  return [...fenced.flatMap((block) => block.split('\n')), ...inline];
}

/** `cuff record list` at the start of a line or of inline code, behind a prompt or `&&`. */
function commandsIn(code: string): [program: 'cuff' | 'derun', word: string, next: string][] {
  const pattern = /(?:^|`|\$ |&& |\| |; )(?:npx )?(cuff|derun) ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/g;
  return [...code.trim().matchAll(pattern)].map(([, program, word = '', next = '']) => [
    program as 'cuff' | 'derun',
    word,
    next,
  ]);
}

it('names only commands that exist', () => {
  const top = { cuff: subcommands('cuff'), derun: subcommands('derun') };
  expect(top.cuff).toEqual(expect.arrayContaining(['run', 'cat', 'record', 'policy', 'mcp']));
  const groups: Record<string, string[]> = {};
  for (const name of ['record', 'policy']) groups[name] = subcommands('cuff', name);
  const wrong: string[] = [];
  let count = 0;
  for (const [file, text] of documents()) {
    for (const [program, word, next] of codeOf(file, text).flatMap(commandsIn)) {
      count += 1;
      const known = top[program].includes(word) || word === 'help';
      const group = program === 'cuff' ? groups[word] : undefined;
      if (!known || (group !== undefined && next !== '' && !group.includes(next))) {
        wrong.push(`${file}: ${program} ${word} ${next}`.trim());
      }
    }
  }
  expect(wrong).toEqual([]);
  expect(count).toBeGreaterThan(100);
});
