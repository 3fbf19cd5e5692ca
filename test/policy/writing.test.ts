// Writing inside of the project, by a policy of version 2: what `>` and `tee` may write without a
// list of names, and what a person is asked about because it runs later.
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { realPath } from '../../src/policies/real-path.ts';
import { type Judgement, judge } from '../../src/policy/decide.ts';
import type { LoadedPolicy } from '../../src/policy/policy.ts';
import { strictPart } from '../../src/policy/strict-part.ts';
import { HOME, PROJECT, policyOf, policyText, said } from './helper.ts';

const RULES = {
  allow: [
    ...['cat *', 'echo *', 'mkdir *', 'git *', 'ln *', 'cp *', 'mv *', 'sed *', 'rm -rf <path>'],
    ...['npm test', 'npm run {build,lint}', 'make test', 'pytest *', 'cargo build', 'tar *'],
    ...[
      'git add a.txt',
      'git commit -m x',
      'ln -s vendor x',
      'git checkout other',
      'tar -xf a.tar',
    ],
    ...['./run.sh', 'bash scripts/all.sh', 'python3 tools/gen.py'],
  ],
};
const SECOND = { ...RULES, more: 'version: 2\n' };

/** By a policy of version 2, and by the same rules in one of version 1. */
function both(command: string, cwd = PROJECT): readonly [string, string] {
  return [said(SECOND, command, cwd), said(RULES, command, cwd)];
}

describe('version 2', () => {
  it.each([
    'cat > notes.md <<E\nx\nE',
    "cat <<'E' > src/a.ts\nexport {};\nE",
    'cat > src/deep/new/b.ts <<E\nx\nE',
    'echo x > a.txt',
    'echo x >> a.txt',
    'echo x >| a.txt',
    'echo x &> a.txt',
    'echo x >& a.txt',
    'echo x &>> a.txt',
    'echo x 1<> a.txt',
    'npm test > out.log 2>&1',
    'cd src && echo x > ../b.txt',
    'mkdir -p a/b && cat > a/b/c.py <<E\nx\nE',
    'echo x > a.txt && git add a.txt && git commit -m x',
    'for f in a b; do echo x > $f.txt; done',
    '> empty.txt',
    ': > empty.txt',
    `echo x > ${PROJECT}/a.txt`,
    'git log | tee log.txt',
    'npm test 2>&1 | tee -a out/log.txt',
    'echo x | tee a.txt b.txt > /dev/null',
    'cat > package.json.md <<E\nx\nE',
  ])('%s needs no list of names', (command) => {
    const [second, first] = both(command);
    expect(second).toBe('allow');
    expect(first).toMatch(/^ask/);
  });

  it.each([
    // Outside of the project, or it is not known where.
    ['echo x > /tmp/a', 'ask redirect'],
    ['echo x > ../a', 'ask redirect'],
    ['echo x > src/../../a', 'ask redirect'],
    ['echo x > "$x"', 'ask redirect'],
    ['echo x > $(cat name)', 'ask redirect'],
    ['echo x > *.log', 'ask redirect'],
    ['cd "$x" && echo x > a.txt', 'ask redirect'],
    ['echo x | tee /tmp/a', 'ask default.ask'],
    ['echo x | tee "$x"', 'ask default.ask'],
    ['echo x | tee -a ~/.bashrc', 'deny path.protected'],
    ['echo x | tee ../a', 'ask default.ask'],
    ['tee --unknown a.txt', 'ask default.ask'],
    // Runs later.
    ['cat > .git/hooks/x <<E\nx\nE', 'deny path.protected'],
    ['echo x > .git/commondir', 'deny path.protected'],
    ['echo x > sub/.git', 'deny path.protected'],
    ['echo x > .envrc', 'deny path.protected'],
    ['echo x > .env', 'deny path.protected'],
    ['echo x > .cuff/policy.yml', 'deny path.protected'],
    ['echo x > .claude/settings.json', 'deny path.protected'],
    ['echo x > src/../.github/workflows/x.yml', 'ask path.protected'],
    ['echo x > CLAUDE.md', 'ask path.protected'],
    ['echo x > node_modules/.bin/x', 'deny path.protected'],
    ['echo x > node_modules/a/index.js', 'ask path.protected'],
    ['echo x > .venv/lib/python3.11/site-packages/a.py', 'ask path.protected'],
    ['echo x > src/__pycache__/a.cpython-311.pyc', 'ask path.protected'],
    ['echo x > /proc/self/cwd/a', 'deny path.protected'],
    ['echo x > /proc/self/root/etc/passwd', 'deny path.protected'],
    ['echo x >& ~/.profile', 'deny path.protected'],
    ['exec 3<> .git/config', 'deny path.protected'],
    ['echo x > vendor.git/HEAD', 'ask path.protected'],
    // What the rules run.
    ['cat > package.json <<E\n{}\nE', 'ask path.protected'],
    ['cat > sub/package.json <<E\n{}\nE', 'ask path.protected'],
    ['echo x >> Makefile', 'ask path.protected'],
    ['echo x > inc.mk', 'ask path.protected'],
    ['echo x > pyproject.toml', 'ask path.protected'],
    ['echo x > tests/conftest.py', 'ask path.protected'],
    ['echo x > setup.py', 'ask path.protected'],
    ['echo x > build.rs', 'ask path.protected'],
    ['echo x > vite.config.ts', 'ask path.protected'],
    ['echo x > .eslintrc.js', 'ask path.protected'],
    ['cat > run.sh <<E\nx\nE', 'ask path.protected'],
    ['cat > run.sh <<E\nx\nE\n./run.sh', 'ask path.protected'],
    ['cd sub && echo x > run.sh && ./run.sh', 'ask path.protected'],
    ['echo x > scripts/all.sh; bash scripts/all.sh', 'ask path.protected'],
    ['echo x > tools/gen.py', 'ask path.protected'],
    ['echo x | tee package.json', 'ask path.protected'],
    ['cp evil.json package.json', 'ask path.protected'],
    ['mv evil run.sh', 'ask path.protected'],
    ['sed -i s/a/b/ Makefile', 'ask path.protected'],
    ['sed -i s/a/b/ *.json', 'ask path.protected'],
    // A link may have come there since it was looked at.
    ['ln -s vendor x && echo x > x/a', 'ask redirect'],
    ['git checkout other && echo x > x/a', 'ask redirect'],
    ['tar -xf a.tar && echo x > x/a', 'ask redirect'],
    ['cp -a vendor x; echo x | tee x/a', 'ask default.ask'],
    ['for i in 1 2; do echo x > x/a; ln -s vendor x; done', 'ask redirect'],
    ['echo x > x/a | ln -s vendor x', 'ask redirect'],
  ])('%s: %s', (command, expected) => {
    expect(said(SECOND, command)).toBe(expected);
  });

  it.each([
    ['npm ci', 'package-lock.json'],
    ['npm install', 'npm-shrinkwrap.json'],
    ['npm install', 'sub/binding.gyp'],
    ['pnpm install', 'pnpm-lock.yaml'],
    ['yarn', 'yarn.lock'],
    ['bun install', 'bun.lockb'],
    ['npx vitest *', 'vitest.workspace.ts'],
    ['bundle install', 'Gemfile.lock'],
    ['uv sync', 'uv.lock'],
    ['uv run pytest *', '.python-version'],
    ['poetry install', 'poetry.lock'],
    ['pytest *', 'pytest.toml'],
    ['mypy *', '.mypy.ini'],
    ['flake8 *', '.flake8'],
    ['cargo nextest run *', '.config/nextest.toml'],
    ['{python,python3} -m pytest *', 'pytest.py'],
    ['{python,python3} -m pip list', 'sub/pip/__init__.py'],
    ['python3 -m unittest *', 'unittest/__main__.py'],
  ])('asks before what `%s` runs is written: %s', (rule, file) => {
    const more = 'version: 2\n';
    expect(said({ allow: ['echo *', rule], more }, `echo x > ${file}`)).toBe('ask path.protected');
    expect(said({ allow: ['echo *', 'make test'], more }, `echo x > ${file}`)).toBe('allow');
  });

  it('leaves the modules of the project to agents', () => {
    const rules = { allow: ['echo *', 'python3 -m shop.cli *'], more: 'version: 2\n' };
    expect(said(rules, 'echo x > shop/cli.py')).toBe('allow');
    expect(said(rules, 'echo x > tests/unittest/a.py')).toBe('allow');
  });

  it('asks about no more than what the rules run', () => {
    const rules = { allow: ['echo *', 'make test'], more: 'version: 2\n' };
    expect(said(rules, 'echo x > Makefile')).toBe('ask path.protected');
    expect(said(rules, 'echo x > package.json')).toBe('allow');
    expect(said(rules, 'echo x > run.sh')).toBe('allow');
    expect(said({ ...rules, allow: ['echo *', 'make *'] }, 'rm -rf node_modules/a')).toBe(
      'ask default.ask',
    );
  });

  it('removes installed code as before', () => {
    for (const name of ['node_modules', 'src/__pycache__', 'node_modules/.cache']) {
      expect(both(`rm -rf ${name}`)).toEqual(['allow', 'allow']);
    }
  });

  it('builds the program that a rule names, which nothing else may write', () => {
    const more = 'version: 2\n';
    const allow = ['./tool sync', './x.sh', 'go build *', 'cat *', 'cp *', 'gcc *', 'make *'];
    const rules = {
      allow: [...allow, "perl -pi -e 's/a/b/' src/a.pl", 'sed -i <word> <path>'],
      more,
    };
    for (const text of ['go build -o tool', 'go build -o ./tool ./cmd', 'gcc -o tool tool.c']) {
      expect([text, said(rules, text)]).toEqual([text, 'allow']);
    }
    // A script of that name is none that a compiler makes, nor is what make reads.
    for (const text of [
      ...['go build -o x.sh', 'go build -o Makefile', 'go build -o node_modules/a', 'cp x tool'],
      ...['cat > tool', 'cat x > sub/tool', 'sed -i s/a/b/ tool', 'gcc -o x.sh a.c'],
    ]) {
      expect([text, said(rules, text)]).toEqual([text, 'ask path.protected']);
    }
    // Behind `-e` stands what the code works on.
    expect(said(rules, 'sed -i s/a/b/ src/a.pl')).toBe('allow');
  });

  it('writes what a policy lists, also if it runs', () => {
    const more = 'version: 2\nredirects: [package.json, /tmp/out/*]\n';
    expect(said({ ...RULES, more }, 'echo x > package.json')).toBe('allow');
    expect(said({ ...RULES, more }, 'cp a package.json')).toBe('allow');
    expect(said({ ...RULES, more }, 'echo x > /tmp/out/a')).toBe('allow');
    expect(said({ ...RULES, more }, 'echo x > Makefile')).toBe('ask path.protected');
  });

  it('is narrower where scopes.write says what is written', () => {
    const rules = {
      allow: ['echo *', 'cp *'],
      more: 'version: 2\nscopes: { write: [src, /tmp/a] }\n',
    };
    expect(said(rules, 'echo x > src/a.ts')).toBe('allow');
    expect(said(rules, 'echo x > /tmp/a/b')).toBe('allow');
    expect(said(rules, 'echo x | tee src/a.ts')).toBe('allow');
    expect(said(rules, 'echo x > docs/a.md')).toBe('ask redirect');
    expect(said(rules, 'cp src/a docs/b')).toBe('ask path.outside');
    expect(said(rules, 'cp docs/a src/b')).toBe('allow');
    const first = { ...rules, more: 'scopes: { write: [src, /tmp/a] }\n' };
    expect(said(first, 'cp src/a docs/b')).toBe('allow');
    expect(said(first, 'echo x > src/a.ts')).toBe('ask redirect');
  });

  it('lets tools of an agent write what commands may', () => {
    const policy = policyOf(policyText(SECOND));
    const court = judge({ policies: [unsavedOf(policy)], project: PROJECT, home: HOME });
    const verdict = (path: string) => court.decideWrite(path, PROJECT).verdict;
    expect(['src/a.ts', 'package.json', 'run.sh', '.git/config'].map(verdict)).toEqual([
      ...['allow', 'ask', 'ask', 'deny'],
    ]);
  });
});

function unsavedOf(policy: LoadedPolicy['policy']): LoadedPolicy {
  return { policy, origin: 'user', file: undefined };
}

describe('beside other policies', () => {
  const user = (more: string): LoadedPolicy => ({
    policy: policyOf(policyText({ allow: ['echo *'], more })),
    origin: 'user',
    file: '/home/user/.config/cuff/policy.yml',
  });
  const theirs = policyOf(policyText({ allow: ['echo *'], more: 'version: 2\n' }));
  const verdicts = (policies: readonly LoadedPolicy[], commands: readonly string[]) => {
    const court = judge({ policies, project: PROJECT, home: HOME, scratch: '/state/scratch/a' });
    return commands.map((command) => court.decide(command, PROJECT).verdict);
  };
  const COMMANDS = ['echo x > docs/a', 'echo x > src/a', 'echo x > /state/scratch/a/b'];

  it('an untrusted policy of the project opens nothing', () => {
    const guest: LoadedPolicy = { policy: strictPart(theirs), origin: 'project', file: undefined };
    expect(verdicts([user(''), guest], COMMANDS)).toEqual(['ask', 'ask', 'ask']);
    const narrow = user('version: 2\nscopes: { write: [src] }\n');
    expect(verdicts([narrow, guest], COMMANDS)).toEqual(['ask', 'allow', 'allow']);
    expect(verdicts([narrow], COMMANDS)).toEqual(['ask', 'allow', 'allow']);
  });

  it('a trusted one opens what it says', () => {
    const trusted: LoadedPolicy = { policy: theirs, origin: 'project', file: undefined };
    expect(verdicts([user(''), trusted], COMMANDS)).toEqual(['allow', 'allow', 'allow']);
  });

  it('the scratch directory is for policies of version 2', () => {
    const commands = [
      ...['cat /state/scratch/a/x', 'cd /state/scratch/a && echo x > b', 'echo x > /state/b'],
      ...['echo x > /state/scratch/b/x', 'echo x > /state/scratch/a/.git/config'],
    ];
    expect(verdicts([user('version: 2\n')], commands)).toEqual([
      ...['ask', 'allow', 'ask', 'ask', 'deny'],
    ]);
    expect(verdicts([user('')], commands)).toEqual(['ask', 'ask', 'ask', 'ask', 'deny']);
  });

  it('the scratch directory may lie where nothing else is written', () => {
    const scratch = '/home/user/.local/state/derun/scratch/a';
    const policies = [user('version: 2\n')];
    const court = judge({ policies, project: PROJECT, home: HOME, scratch });
    const verdict = (path: string) => court.decide(`echo x > ${path}`, PROJECT).verdict;
    expect([`${scratch}/a`, `${scratch}b`, '~/.local/state/derun/x'].map(verdict)).toEqual([
      ...['allow', 'deny', 'deny'],
    ]);
  });
});

describe('links', () => {
  class Disk {
    readonly dir = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'cuff-writing-')));
    readonly project = join(this.dir, 'project');
    readonly court: Judgement;

    constructor() {
      onTestFinished(() => fs.rmSync(this.dir, { recursive: true, force: true }));
      fs.mkdirSync(join(this.project, 'src'), { recursive: true });
      const policies = [unsavedOf(policyOf(policyText(SECOND)))];
      const { project } = this;
      this.court = judge({ policies, project, home: join(this.dir, 'home'), real: realPath });
    }

    link(target: string, name: string): void {
      const path = join(this.project, name);
      fs.mkdirSync(dirname(path), { recursive: true });
      fs.symlinkSync(target, path);
    }

    said(command: string): string {
      const { verdict, code } = this.court.decide(command, this.project);
      return verdict === 'allow' ? 'allow' : `${verdict} ${code}`;
    }
  }

  it('what they lead to counts', () => {
    const disk = new Disk();
    disk.link('../outside', 'out');
    disk.link('src', 'in');
    disk.link('.git/hooks/pre-commit', 'hook');
    disk.link('package.json', 'plain.txt');
    disk.link('nowhere/at/all', 'dangling');
    disk.link('../../home/.bashrc', 'src/rc');
    expect(
      [
        ...['echo x > in/a', 'echo x > dangling', 'echo x > out/a', 'echo x > out'],
        ...['echo x > hook', 'echo x > plain.txt', 'echo x | tee src/rc', 'echo x | tee out/a'],
      ].map((command) => disk.said(command)),
    ).toEqual([
      ...['allow', 'allow', 'ask redirect', 'ask redirect'],
      ...['deny path.protected', 'ask path.protected', 'deny path.protected', 'ask default.ask'],
    ]);
  });

  it('a way up from what a link leads to is the way that the system goes', () => {
    const disk = new Disk();
    disk.link('../outside/deep', 'far');
    fs.mkdirSync(join(disk.dir, 'outside', 'deep'), { recursive: true });
    expect(disk.said('echo x > far/../a')).toBe('ask redirect');
    expect(disk.said('cat far/../a')).toBe('ask path.outside');
    expect(disk.said('cp src/a far/../a')).toBe('ask path.outside');
    expect(disk.said('cd far && echo x > ../a')).toBe('ask redirect');
    expect(disk.said('echo x > src/../a')).toBe('allow');
  });
});
