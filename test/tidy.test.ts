// Holds the repository to the rules in `tidy-rules.ts`, and every rule to a violation of it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lacking } from './requirements.ts';
import { dependencyLaw, hallFiles, longRouting, mirroredFolders } from './tidy-law.ts';
import * as rules from './tidy-rules.ts';
import { readSources } from './tidy-source.ts';
import { participleTypes, vagueActors } from './tidy-words.ts';

const ROOT = join(import.meta.dirname, '..');
const CODE = /^(src|test|scripts|bench|native|web)\/.*\.(tsx?|mjs|c|h)$|^vitest\.config\.ts$/;
const DOCUMENT = /^(README|ARCHITECTURE|CONTRIBUTING)\.md$|^docs\/.*\.md$/;

const everything = repositoryFiles();
const code = matching(CODE);
const c = new Map([...code].filter(([file]) => /\.[ch]$/.test(file)));
const facts = readSources(new Map([...code].filter(([file]) => /\.(tsx?|mjs)$/.test(file))));
const tests = new Map([...facts].filter(([file]) => file.startsWith('test/')));

/** What git would track: everything but what .gitignore names. Works without git, too. */
function repositoryFiles(): string[] {
  const lines = readFileSync(join(ROOT, '.gitignore'), 'utf8').split('\n').filter(Boolean);
  const ignored = ['.git/', ...lines].map((line) => line.replace(/^\//, ''));
  const out: string[] = [];
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      const path = entry.isDirectory() ? `${name}/` : name;
      const skip = (mark: string) =>
        mark.startsWith('*')
          ? path.endsWith(mark.slice(1))
          : path === mark || path.endsWith(`/${mark}`);
      if (ignored.some(skip)) continue;
      if (entry.isDirectory()) walk(name);
      else if (entry.isFile()) out.push(name);
    }
  };
  walk('');
  return out;
}

function matching(pattern: RegExp): Map<string, string> {
  const names = everything.filter((file) => pattern.test(file));
  return new Map(names.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));
}

const one = (name: string, text: string) => new Map([[name, text]]);
const sources = (files: Record<string, string>) => readSources(new Map(Object.entries(files)));

describe('the house', () => {
  it('keeps the dependency law', () => {
    expect(dependencyLaw(facts)).toEqual([]);
  });

  it('has tests where their sources are', () => {
    expect(mirroredFolders(everything)).toEqual([]);
  });

  it('keeps its hall small, and its map short', () => {
    expect([
      ...hallFiles(everything),
      ...longRouting(readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')),
    ]).toEqual([]);
  });

  it('has no import cycles', () => {
    expect(rules.importCycles(facts)).toEqual([]);
  });

  it('has no source that nobody imports', () => {
    expect(rules.deadFiles(facts)).toEqual([]);
  });

  it('has short files, functions and lines', () => {
    expect([
      ...rules.longFiles(code),
      ...rules.longFunctions(facts),
      ...rules.longCFunctions(c),
      ...rules.longLines(code),
    ]).toEqual([]);
  });

  it('writes to the console only from the command line', () => {
    expect(rules.consoleUses(facts)).toEqual([]);
  });

  it('names no machine, no registry and no open end', () => {
    expect(rules.foreignWords(matching(/^(?!.*\.(png|gif|ico)$)/))).toEqual([]);
  });

  it('names no real host in documents, tests and examples', () => {
    expect(rules.realHosts(matching(/^(docs|test|examples|README|CHANGELOG)/))).toEqual([]);
  });

  it('names the actor, and calls types by nouns', () => {
    expect([...vagueActors(code), ...participleTypes(code)]).toEqual([]);
  });

  it('documents only paths that exist', () => {
    expect(rules.namedPaths(matching(DOCUMENT), everything)).toEqual([]);
  });

  it('skips no test without saying why', () => {
    expect(rules.silentSkips(tests)).toEqual([]);
  });

  it('builds with one command, tests with one, and does both on three systems', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(scripts).toMatchObject({
      build: 'node scripts/build.mjs',
      test: expect.stringContaining('vitest'),
    });
    const workflow = readFileSync(join(ROOT, '.github/workflows/ci.yml'), 'utf8');
    for (const system of ['ubuntu', 'macos', 'windows']) expect(workflow).toContain(`${system}-`);
    expect(workflow).toContain('npm test');
  });
});

describe('a rule can fail:', () => {
  it('real hosts', () => {
    const real = 'real.dev';
    const urls = [`https://${real}/x`, `http://u:p@${real}:80`, 'ws://a.example', 'http://[::1]:8'];
    const bare = [`network: [${real}, a.example.org]`, `a@${real}`, `./${real}`, `${real}.md`];
    const found = (file: string) =>
      rules.realHosts(new Map([[file, [...urls, ...bare].join('\n')]]));
    expect(found('docs/a.md')).toEqual(Array(3).fill('docs/a.md: real.dev'));
    expect(found('test/a.ts')).toEqual(Array(2).fill('test/a.ts: real.dev'));
  });

  it('the dependency law', () => {
    const made = sources({
      'src/cli/cuff.ts': "import { r } from '../run/run.ts'; import '../shell/shell.ts';",
      'src/shell/shell.ts': "export { r } from '../run/run.ts'; import '../text/text.ts';",
      'src/run/run.ts': "import type { C } from '../capture/c.ts'; export * from './own.ts';",
      'src/run/own.ts': "import '../text/text.ts'; import('../shell/shell.ts');",
      'src/capture/c.ts': "export type C = import('../run/own.ts').O; import '../types.ts';",
      'src/text/text.ts': "import '../capture/c.ts';",
      'src/types.ts': "import './shell/shell.ts'; import './gone.ts'; import '../package.json';",
      'src/attic/old.ts': '',
      'src/index.ts': "export * from './library/tools.ts'; import './shell/shell.ts';",
      'src/library/tools.ts': "import '../dialects/a/d.ts'; import '../mcp/m.ts';",
      'src/dialects/a/d.ts': "import '../../library/tools.ts'; import '../b/d.ts';",
      'src/dialects/b/d.ts': "import '../dialect.ts';",
      'src/dialects/dialect.ts': '',
      'src/mcp/m.ts': "import '../index.ts';",
    });
    expect(dependencyLaw(made)).toEqual([
      'src/run/run.ts: run does not stand above capture (src/capture/c.ts)',
      'src/run/own.ts: run does not stand above shell (src/shell/shell.ts)',
      'src/capture/c.ts: capture does not stand above run (src/run/own.ts)',
      'src/text/text.ts: text does not stand above capture (src/capture/c.ts)',
      'src/types.ts: ground does not stand above shell (src/shell/shell.ts)',
      'src/types.ts: imports ./gone.ts, which does not exist',
      'src/attic/old.ts: attic/ has no rank',
      'src/library/tools.ts: library does not stand above mcp (src/mcp/m.ts)',
      'src/dialects/a/d.ts: dialects does not stand above library (src/library/tools.ts)',
      'src/dialects/a/d.ts: one dialect does not import another (src/dialects/b/d.ts)',
      'src/mcp/m.ts: mcp does not stand above index (src/index.ts)',
    ]);
  });

  it('mirrored folders', () => {
    const files = ['src/run/a.ts', 'src/trace/decode/a.ts', 'test/run/a.test.ts', 'test/tidy.ts'];
    const more = ['test/trace/a.test.ts', 'test/run/programs/a.c', 'test/native/shim/a.test.ts'];
    const wrong = ['test/record/a.test.ts', 'test/run/decode/a.test.ts', 'test/golden/a.txt'];
    expect(mirroredFolders([...files, ...more, ...wrong])).toEqual([
      'test/record: there is no such folder in src/',
      'test/run/decode: there is no such folder in src/',
      'test/golden: there is no such folder in src/',
    ]);
  });

  it('the hall and the map', () => {
    expect(hallFiles(['src/types.ts', 'src/policy-x.ts', 'src/run/x.ts'])).toEqual([
      'src/policy-x.ts: belongs into a folder of src/',
    ]);
    const table = (rows: number) =>
      `x\n| about | read first |\n|---|---|\n${'| a | `b` |\n'.repeat(rows)}\nx\n`;
    expect(longRouting(table(20))).toEqual([]);
    expect(longRouting(table(21))).toEqual(['the routing table has 21 rows, at most 20']);
    expect(longRouting('')).toEqual(['there is no routing table']);
  });

  it('cycles', () => {
    const made = sources({
      'src/a.ts': "import './b.ts';",
      'src/b.ts': "import type { C } from './c.ts';",
      'src/c.ts': "export { B } from './b.ts'; export type C = 1;",
    });
    expect(rules.importCycles(made)).toEqual(['cycle: src/b.ts -> src/c.ts -> src/b.ts']);
  });

  it('dead files', () => {
    const made = sources({
      'src/index.ts': "export * from './used.ts';",
      'src/used.ts': 'export const used = 1;',
      'src/dead.ts': "import './used.ts';",
      'src/cli/cuff.ts': '',
      'src/cli/mcp-shipped.ts': '',
      'src/cli/sh-start.ts': '',
      'src/packing/worker.ts': '',
      'src/web/worker.ts': '',
    });
    expect(rules.deadFiles(made)).toEqual([
      'src/cli/derun.ts: missing',
      'src/dead.ts: nobody imports it',
    ]);
  });

  it('long files and lines', () => {
    const full = 'x\n'.repeat(rules.FILE_LINES_MAX);
    expect(rules.longFiles(one('a.ts', full))).toEqual([]);
    expect(rules.longFiles(one('a.ts', `${full}x\n`))).toEqual(['a.ts: 401 lines, at most 400']);
    const wide = 'ü'.repeat(rules.LINE_COLUMNS_MAX);
    expect(rules.longLines(one('a.c', `\n${wide}\n`))).toEqual([]);
    expect(rules.longLines(one('a.c', `\n${wide}x\n`))).toEqual([
      'a.c:2: 101 columns, at most 100',
    ]);
  });

  it('long functions', () => {
    const body = (lines: number) => '  void 0; // } `{` "\n'.repeat(lines - 2);
    const just = `export function just() {\n${body(70)}}\n`;
    const made = sources({
      'a.ts': `// head\n${just}const over = () => {\n${body(71)}};\n`,
      'b.mjs': `class A {\n  m() {\n${body(71)}}\n}\n`,
      'c.ts': `describe.each([1])('x', () => {\nit('y', () => {\n${body(71)}});\n});\n`,
    });
    expect(rules.longFunctions(made)).toEqual([
      'a.ts:72: over has 71 lines, at most 70',
      'b.mjs:2: m has 71 lines, at most 70',
      'c.ts:2: a function has 71 lines, at most 70',
    ]);
  });

  it('long C functions', () => {
    const body = (lines: number) => '  x();\n'.repeat(lines - 2);
    const declared = 'int declared(int a,\n             int b);\nstruct s {\n  int i;\n};\n';
    const text = `${declared}int just(void) {\n${body(70)}}\nint over(\n  int a) {\n${body(70)}}\n`;
    expect(rules.longCFunctions(one('a.c', text))).toEqual(['a.c:76: 71 lines, at most 70']);
  });

  it('console', () => {
    const made = sources({
      'src/run/a.ts': "// console.log('no')\nconst log = console.log;\n",
      'src/cli/b.ts': "console.log('yes');",
      'scripts/c.mjs': "console.log('yes');",
    });
    expect(rules.consoleUses(made)).toEqual(['src/run/a.ts:2: console belongs to src/cli']);
  });

  it('foreign words', () => {
    const [work, home, later] = ['/work', '/home', 'TO'];
    const text = [
      `cd ${work}/main`,
      `'${home}/somebody/x'`,
      `${home}/user/x and temp${work}/x`,
      `// ${later}DO: later`,
      `"resolved": "https://${'registry'}.example.org/x.tgz"`,
    ].join('\n');
    expect(rules.foreignWords(one('a', text)).map((words) => words.split(': ')[0])).toEqual([
      'a:1',
      'a:2',
      'a:4',
      'a:5',
    ]);
  });

  it('paths named in documents', () => {
    const text =
      '`src/run/run.ts` `run/run.ts` `src/run/` `native/*.c` `meta.json` `dist/cuff.js` ' +
      '`sessions/<id>/` `native/prebuilt/linux-x64` `npm test` ' +
      '`src/gone.ts` `run/gone.ts` `docs/gone/` `native/*.rs` `GONE.md`';
    expect(rules.namedPaths(one('README.md', text), ['src/run/run.ts', 'native/a.c'])).toEqual(
      ['src/gone.ts', 'run/gone.ts', 'docs/gone', 'native/*.rs', 'GONE.md'].map(
        (path) => `README.md: names ${path}, which does not exist`,
      ),
    );
  });

  it('words that hide the actor', () => {
    const text = '// Nobody asked; somebody else, or whoever.\nconst nobodyHere = 1;\n';
    const made = new Map([
      ['src/a.ts', text],
      ['native/b.c', '/* nobody */'],
      ['test/c.ts', text],
    ]);
    const allowed = { 'src/a.ts': [1, 'pinned'] } as const;
    expect(vagueActors(made, 3, allowed)).toEqual([]);
    expect(vagueActors(made, 2, allowed)).toEqual([
      '3 times nobody, somebody or whoever, at most 2: name the actor. ' +
        'Most: src/a.ts 2, native/b.c 1',
    ]);
    expect(vagueActors(made, 9, { 'native/b.c': [2, 'pinned'] })).toEqual([
      'native/b.c: is allowed 2 and has fewer; take it out of VAGUE_ALLOWED',
    ]);
  });

  it('types that are called by a participle', () => {
    const names = ['Told', 'RuledOut', 'HttpServed', 'SeedFeed', 'PathSet', 'Permission', 'Kept'];
    const text = names.map((name) => `export type ${name} = 1;`).join('\n');
    const more = 'export interface Begun {}\nexport class Asked {}\ntype Held = 1;\n';
    const made = new Map([
      ['src/a.ts', text],
      ['src/b.ts', more],
      ['test/c.ts', text],
    ]);
    const wrong = (file: string, name: string) =>
      `${file}: the type ${name} is called by a participle; use a noun`;
    expect(participleTypes(made, ['Kept', 'Gone'])).toEqual([
      wrong('src/a.ts', 'Told'),
      wrong('src/a.ts', 'HttpServed'),
      wrong('src/b.ts', 'Begun'),
      wrong('src/b.ts', 'Asked'),
      'Gone: there is no such type; take it out of PARTICIPLES_ALLOWED',
    ]);
  });

  it('silent skips', () => {
    const made = sources({
      'a.test.ts': [
        "it.skipIf(lacking(true, 'tmux is not installed'))('x', () => {});",
        "const noVim = lacking(true, 'vim is not installed');",
        "describe.skipIf(noVim)('x', () => {});",
        "it('x', (context) => context.skip('no disk'));",
        "it.skip('x', () => {});",
        "it.skipIf(process.platform === 'win32')('x', () => {});",
        "it('x', (context) => context.skip());",
        "test.todo('x');",
      ].join('\n'),
    });
    expect(rules.silentSkips(made)).toEqual([
      'a.test.ts:5: it.skip without a printed reason',
      'a.test.ts:6: it.skipIf without a printed reason',
      'a.test.ts:7: context.skip without a printed reason',
      'a.test.ts:8: test.todo without a printed reason',
    ]);
  });

  it('a skip that says why', () => {
    expect([lacking(false, 'nothing is lacking'), lacking(true, 'a test of skips')]).toEqual([
      false,
      true,
    ]);
  });
});
