// docs/policy.md shows real output: the commands of its story are recorded by a real recorder, and
// every `$ ...` in it is run here. `vitest -u` writes the page anew.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBashTools } from '../../../src/index.ts';
import { presetText } from '../../../src/policies/init/document.ts';
import { projectFacts } from '../../../src/policies/init/project.ts';
import { readPolicy } from '../../../src/policy/load.ts';
import { binary } from '../helper.ts';

const DOCS = join(import.meta.dirname, '..', '..', '..', 'docs');
const PAGE = join(DOCS, 'policy.md');
const page = readFileSync(PAGE, 'utf8');
const root = realpathSync(mkdtempSync(join(tmpdir(), 'cuff-policy-docs-')));
const home = join(root, 'you');
const project = join(home, 'app');
const env = {
  ...process.env,
  HOME: home,
  XDG_CONFIG_HOME: '',
  CUFF_STATE_ROOT: join(root, 'state'),
  NO_COLOR: '1',
};

/** What the agent of the story runs, conversation by conversation. */
const STORY: readonly (readonly string[])[] = [
  [
    'git status',
    'git log --oneline -5',
    'cat src/parser.js',
    'grep -rn words src',
    'node --test',
    "git commit -qam 'parse numbers'",
  ],
  [
    'git status',
    'cat package.json',
    'grep -n parse src/parser.js',
    'node --test && git diff',
    'rm -rf build && mkdir build',
    "git commit -qam 'parse words'",
  ],
  [
    'git status',
    'git log --oneline -20',
    'git diff HEAD~1',
    'du -sh src',
    'node --test',
    'rm -rf build && mkdir build',
  ],
];

const FILES: Readonly<Record<string, string>> = {
  'package.json':
    '{"name":"app","type":"module","scripts":{"test":"node --test","lint":"eslint src",' +
    '"deploy":"npm publish"},"devDependencies":{"eslint":"^9"}}\n',
  'README.md': '# app\n',
  'src/parser.js': '// words\nexport const parse = Number;\n',
  'commands.jsonl': `{"id":1,"command":"git status"}
{"id":2,"command":"rm -rf /","policy":{"default":"ask","allow":["rm -rf <path>"]}}
`,
  'agents.yml':
    'policies: [{name: publishing, agents: [claude-code], ' +
    'commands: [{pattern: git push origin <rev>}]}]\n',
  'environment.yml': `programs: [.venv/bin, node_modules/.bin]
policies:
  - name: testing
    commands:
      - pattern: pytest *
      - pattern: npm test
`,
  'second.yml': `version: 2
policies:
  - name: building
    commands:
      - pattern: npm test
      - pattern: echo *
`,
  'rules.yml': `filters: true
policies:
  - name: building
    commands:
      - git log *
      - npm test
      - { pattern: rm -rf <path>, paths: [dist] }
      - { pattern: git push *, decision: ask }
`,
  'draft.yml': `default: ask
policies:
  - name: draft
    commands:
      - git log *
      - git push origin main
      - rm *
      - cat <path> | head
      - cargo *
      - npm run *
      - { pattern: git push *, decision: deny }
`,
};

beforeAll(async () => {
  mkdirSync(join(project, 'src'), { recursive: true });
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(project, name), text);
  const git = (...args: readonly string[]): void => {
    execFileSync('git', ['-C', project, ...args], { env, stdio: 'ignore' });
  };
  git('init', '-q');
  git('config', 'user.name', 'me');
  git('config', 'user.email', 'me@example.org');
  git('add', '-A');
  git('commit', '-qm', 'first');
  mkdirSync(join(project, '.cuff'), { recursive: true });
  writeFileSync(join(project, '.cuff', 'policy.yml'), preset());
  for (const [index, commands] of STORY.entries()) await record(`c${index}`, commands, index);
});

/** What `cuff policy init` writes for the project of the story. */
function preset(): string {
  const schema = '../node_modules/cuff/docs/policy.schema.json';
  return presetText({ preset: 'dev', facts: projectFacts(project), schema });
}

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));

async function record(conversationId: string, commands: readonly string[], index: number) {
  const stateRoot = env.CUFF_STATE_ROOT;
  const options = {
    dialect: 'bash_recorder',
    cwd: project,
    stateRoot,
    env,
    conversationId,
  } as const;
  const [tool] = createBashTools(options);
  for (const command of commands) {
    writeFileSync(join(project, 'src', 'parser.js'), `// words ${index} ${command}\n`);
    const { isError, text } = (await tool?.call({ command })) ?? { isError: true, text: 'no tool' };
    if (isError) throw new Error(`${command}: ${text}`);
  }
  await tool?.close();
}

/** What a shell in the project prints, on both streams. */
function printed(step: string): string {
  const script = `cuff() { "${process.execPath}" "${binary('cuff')}" "$@"; }; cd "$1"; ${step}`;
  const { stdout } = spawnSync('bash', ['-c', `exec 2>&1; ${script}`, 'bash', project], {
    env,
    encoding: 'utf8',
  });
  return stdout
    .replaceAll(home, '/home/you')
    .replace(/^# Generated: .*$/m, '# Generated: 2026-01-18T14:30:52Z');
}

describe('docs/policy.md', () => {
  it('shows what its commands print', async () => {
    const filled = page.replace(/^```console\n([\s\S]*?)^```/gm, (_, block: string) => {
      const steps = block.split('\n').filter((line) => line.startsWith('$ '));
      const printedSteps = steps.map((step) => `${step}\n${printed(step.slice(2))}`);
      return `\`\`\`console\n${printedSteps.join('')}\`\`\``;
    });
    const shown = filled.replace(/^```yaml\n# yaml-language-server[\s\S]*?^```/m, () => {
      return `\`\`\`yaml\n${preset()}\`\`\``;
    });
    await expect(shown).toMatchFileSnapshot(PAGE);
  });

  it('shows only policies that load', () => {
    const blocks = [...page.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, text = '']) => text);
    expect(blocks.length).toBeGreaterThan(0);
    for (const text of blocks) {
      expect(readPolicy(text, { home, project })).toHaveProperty('policy');
    }
  });

  it('has every reason code, and no other', () => {
    const source = join(import.meta.dirname, '..', '..', '..', 'src', 'policy', 'decision.ts');
    const union =
      /export type ReasonCode =([\s\S]*?);/.exec(readFileSync(source, 'utf8'))?.[1] ?? '';
    const known = [...union.matchAll(/\| '([^']+)'/g)].map(([, code]) => code);
    expect(known.length).toBeGreaterThan(20);
    expect(firstColumn('### Reason codes')).toEqual(known);
  });

  it('has every key of a policy and of a rule, and no other', () => {
    const known = (text: string): readonly string[] => {
      const read = readPolicy(text, { home, project });
      const message = 'problems' in read ? (read.problems[0]?.message ?? '') : '';
      return /known are (.*)$/.exec(message)?.[1]?.split(', ') ?? [];
    };
    const rule = 'policies: [{name: a, commands: [{pattern: x, zzzzzzzzzzzz: 1}]}]';
    expect(firstColumn('### Keys')).toEqual([...known('zzzzzzzzzzzz: 1'), ...known(rule)]);
  });

  it('links only to what is there', () => {
    const slug = (title: string): string =>
      title
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-');
    for (const [, file = '', anchor = ''] of page.matchAll(/\]\(([\w-]+\.md)?#?([\w-]*)\)/g)) {
      const text = readFileSync(join(DOCS, file === '' ? 'policy.md' : file), 'utf8');
      const titles = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => slug(title));
      if (anchor !== '') expect(titles).toContain(anchor);
    }
  });
});

/** The code in the first column of the tables of a section. */
function firstColumn(title: string): readonly string[] {
  const start = page.indexOf(`${title}\n`);
  const end = page.indexOf('\n#', start + title.length);
  const section = page.slice(start, end);
  return [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell = '']) => cell);
}
