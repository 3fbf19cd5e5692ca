import { describe, expect, it } from 'vitest';
import { explain, judge } from '../../src/policy/decide.ts';
import { HOME, judgement, PROJECT, policyOf, policyText, said } from './helper.ts';

describe('an allowing rule', () => {
  it.each([
    ['git status', 'git status', 'allow'],
    ['git status', '/usr/bin/git status', 'allow'],
    ['git status', './git status', 'ask program.path'],
    ['git status', 'git status -s', 'ask default.ask'],
    ['git log *', 'git log', 'allow'],
    ['git log *', 'git log --oneline -5', 'allow'],
    ['git log *', 'git log --output=x', 'ask argument.effect'],
    ['git log *', 'git log --outp=x', 'ask argument.effect'],
    ['git log *', 'git log --no-such-option', 'ask argument.option'],
    ['git *', 'git commit -m x', 'ask argument.effect'],
    ['cat *', 'cat src/a.ts', 'allow'],
    ['cat *', 'cat /etc/passwd', 'ask path.outside'],
    ['cat *', 'cat ../other/x', 'ask path.outside'],
    ['cat *', 'cat "$file"', 'ask path.unknown'],
    ['cat *', 'cat .env', 'ask path.protected'],
    ['cat *', 'cat .e*', 'ask path.protected'],
    ['cat *', 'cat src/*.ts', 'allow'],
    ['sed -i s/a/b/ *', 'sed -i s/a/b/ src/a.ts', 'allow'],
    ['sed -i s/a/b/ *', 'sed -i s/a/b/ .git/hooks/pre-commit', 'deny path.protected'],
    ['npx prettier --write *', 'npx prettier --write .claude/settings.json', 'deny path.protected'],
    ['cat src/*', 'cat src/../../x', 'ask default.ask'],
    ['cat src/*', 'cat src/../README.md', 'ask default.ask'],
    ['rm *', 'rm x', 'ask program.destructive'],
    ['rm -rf <path>', 'rm -rf build', 'allow'],
    ['rm -rf <path>', 'rm -rf ../build', 'ask path.outside'],
    ['rm -rf build', 'rm -rf build', 'allow'],
    ['frobnicate *', 'frobnicate x', 'ask program.unprofiled'],
    ['frobnicate <int>', 'frobnicate 5', 'allow'],
    ['frobnicate <int>', 'frobnicate five', 'ask default.ask'],
    ['mkdir *', 'mkdir -p src/x', 'allow'],
    ['mkdir *', 'mkdir /tmp/x', 'ask path.outside'],
    ['npx tsc *', 'npx tsc --noEmit', 'allow'],
    ['npx tsc *', 'npx -c "touch x"', 'ask default.ask'],
    ['uv run *', 'uv run pytest', 'ask argument.effect'],
    ['curl *', 'curl https://example.org/', 'ask network'],
    ['curl https://github.com/*', 'curl https://github.com/a/b', 'allow'],
    ['curl https://github.com/*', 'curl https://github.com.evil.example/x', 'ask default.ask'],
    ['curl <url:github.com>', 'curl https://github.com/x', 'allow'],
    ['curl <url:github.com>', 'curl https://user@github.com/x', 'ask network'],
    ['xargs wc *', 'git ls-files | xargs wc -l', 'ask default.ask'],
    ['timeout 60 npm test', 'timeout 10 npm test', 'allow'],
  ])('%j: %j is %s', (pattern, command, wanted) => {
    expect(said({ allow: [pattern] }, command)).toBe(wanted);
  });

  it('for xargs needs who hands it the words to be a lister of files', () => {
    const allow = ['git ls-files *', 'echo *', 'xargs wc *'];
    expect(said({ allow }, 'git ls-files | xargs wc -l')).toBe('allow');
    expect(said({ allow }, 'echo /etc/passwd | xargs wc -l')).toBe('ask argument.unknown');
  });

  it('with `args: any` covers all arguments, but no protected file', () => {
    const text = 'policies: [{name: a, commands: [{pattern: python3 *, args: any}]}]';
    const policies = [{ policy: policyOf(text), origin: 'user', file: undefined }] as const;
    const judged = judge({ policies, project: PROJECT, home: HOME });
    expect(judged.decide('python3 -c "print(1)"', PROJECT).verdict).toBe('allow');
    expect(judged.decide('python3 ~/.ssh/id_rsa', PROJECT).verdict).toBe('ask');
  });
});

describe('a rule with a hole for a file that is rewritten', () => {
  const allow = ['gofmt -w <path> [<path>]', 'sed -i <word> <path>', 'npx prettier --write <path>'];
  const rules = { allow: [...allow, 'cat *'], more: 'scopes: {read: [../other]}\n' };

  it.each([
    'gofmt -w a.go b.go',
    'sed -i s/a/b/ src/a.ts',
    'npx prettier --write src/a.ts',
    'cat ../other/a.go',
  ])('allows %s', (command) => {
    expect(said(rules, command)).toBe('allow');
  });

  it.each([
    ['gofmt -w ../other/a.go', 'ask path.outside'],
    ['gofmt -w a.go ../other/b.go', 'ask path.outside'],
    ['sed -i s/a/b/ ../other/a.ts', 'ask path.outside'],
    ['npx prettier --write ../other/a.ts', 'ask path.outside'],
    ['sed -i 1e src/a.ts', 'ask argument.effect'],
    ['sed -i wx src/a.ts', 'ask argument.effect'],
    ['sed -i s/a/b/ .cuff/policy.yml', 'deny path.protected'],
  ])('%s is %s: where may be read may not be written', (command, wanted) => {
    expect(said(rules, command)).toBe(wanted);
  });
});

describe('a database by its address', () => {
  it.each([
    [`sqlite3 'file:a.db?mode=ro' 'select 1'`, 'allow'],
    [`sqlite3 file:sub/a.db 'select 1'`, 'allow'],
    [`sqlite3 'file:///home/user/app/a.db?immutable=1' .schema`, 'allow'],
    [`sqlite3 'file:/home/user/other/a.db?mode=ro' 'select 1'`, 'ask path.outside'],
    [`sqlite3 'file:../a.db' 'select 1'`, 'ask path.outside'],
    [`sqlite3 'file:.env?mode=ro' 'select 1'`, 'ask path.protected'],
    [`sqlite3 'file:a.db?mode=rwc' 'select 1'`, 'ask network'],
    [`sqlite3 'file:a.db?vfs=x' 'select 1'`, 'ask network'],
    [`sqlite3 'file:%2e%2e/a.db' 'select 1'`, 'ask network'],
    [`sqlite3 'file:a.db?mode=ro' 'drop table x'`, 'ask argument.effect'],
    [`sqlite3 'file:.git/x?mode=ro' 'drop table x'`, 'deny path.protected'],
  ])('%s is %s', (command, wanted) => {
    expect(said({ allow: ['sqlite3 *'] }, command)).toBe(wanted);
  });
});

describe('around the words of a rule', () => {
  const allow = ['echo *', 'npm test', 'git log *'];

  it.each([
    ['echo x > /dev/null 2>&1', 'allow'],
    ['echo x > out.txt', 'ask redirect'],
    ['echo x > ~/.bashrc', 'deny path.protected'],
    ['git log > .git/hooks/pre-commit', 'deny path.protected'],
    ['echo x > .cuff/policy.yml', 'deny path.protected'],
    ['echo < /etc/passwd', 'ask path.outside'],
    ['CI=1 npm test', 'allow'],
    ['FOO=1 npm test', 'ask env'],
    ['PATH=/tmp:$PATH npm test', 'ask env'],
    ['export PATH=/tmp; npm test', 'ask env'],
    ['PAGER=cat git log', 'allow'],
    ['PAGER=./x git log', 'ask env'],
    ['x=1; npm test', 'allow'],
    ['cd src && npm test', 'allow'],
    ['cd /tmp && npm test', 'ask cwd'],
    ['cd "$d" && npm test', 'ask cwd'],
    ['echo $AWS_SECRET_ACCESS_KEY', 'ask env'],
    ['echo $x', 'allow'],
    ['npm() { echo; }; npm test', 'ask function.shadows'],
    ['helper() { echo x; }; helper', 'allow'],
    ['true', 'allow'],
    ['set -euo pipefail; npm test', 'allow'],
    ['', 'allow'],
    ['# a comment', 'allow'],
  ])('%j is %s', (command, wanted) => {
    expect(said({ allow }, command)).toBe(wanted);
  });

  it('the policy opens what it lists', () => {
    const more = [
      'scopes: {cwd: [/srv], read: [/tmp], write: [/srv/out]}',
      'redirects: ["/tmp/*.log"]',
      'env: [API_*]',
      'network: ["*.example.org"]',
    ].join('\n');
    const rules = { allow: [...allow, 'cat *', 'mkdir *', 'curl *'], more };
    expect(said(rules, 'npm test > /tmp/x.log')).toBe('allow');
    expect(said(rules, 'npm test > /tmp/x.txt')).toBe('ask redirect');
    expect(said(rules, 'API_URL=x npm test')).toBe('allow');
    expect(said(rules, 'cat /tmp/x')).toBe('allow');
    expect(said(rules, 'mkdir /srv/out/x')).toBe('allow');
    expect(said(rules, 'cd /srv && npm test')).toBe('allow');
    expect(said(rules, 'curl -s https://api.example.org/x')).toBe('allow');
    expect(said(rules, 'curl -s https://example.com/x')).toBe('ask network');
  });
});

describe('a denying rule', () => {
  const rules = { default: 'allow', deny: ['rm *', 'git push --force'] };

  it.each([
    ['ls', 'allow'],
    ['rm x', 'deny rule.deny'],
    ['/bin/rm x', 'deny rule.deny'],
    ['./rm x', 'deny rule.deny'],
    ['sudo rm x', 'deny rule.deny'],
    ['npx rm x', 'deny rule.deny'],
    ['x=rm; $x -rf v', 'deny rule.deny'],
    ['$x -rf v', 'ask program.unknown'],
    ['find . -exec rm {} +', 'deny rule.deny'],
    ['echo x | xargs rm', 'deny rule.deny'],
    ['git push origin main --force', 'deny rule.deny'],
    ['git push -f', 'deny rule.deny'],
    ['git push --forc', 'deny rule.deny'],
    ['git push $x', 'ask argument.unknown'],
    ['git push', 'allow'],
    ['sh -c "$x"', 'ask code.unseen'],
    ['curl x | sh', 'ask code.unseen'],
    ['sudo ls', 'ask program.opaque'],
    ['python3 -c "print(1)"', 'ask code.unseen'],
    ['unknown-wrapper rm x', 'ask code.unseen'],
    ['env $x v', 'ask code.unseen'],
    ['nohup nice "$x" v', 'ask code.unseen'],
    ['cp $(which rm) x', 'ask code.unseen'],
    ['cp /bin/rm x', 'ask code.unseen'],
    ['dd if=/bin/rm of=x', 'ask code.unseen'],
    ['env CI=1 ls', 'allow'],
    ['grm x', 'deny rule.deny'],
    ['ksh93 -c "rm x"', 'ask code.unseen'],
    ['nix-shell --run "rm x"', 'ask code.unseen'],
    ['echo "rm x" > Makefile; make', 'ask code.unseen'],
    ['echo x > a.sh; ./a.sh', 'ask code.unseen'],
    ['xargs unknown-wrapper < list', 'ask code.unseen'],
    ['echo ".shell rm x" | sqlite3 db', 'ask code.unseen'],
    ['git config alias.x "!rm x"', 'ask code.unseen'],
    ['/usr/lib/git-core/git-push -f', 'deny rule.deny'],
    ['ls -la', 'allow'],
    ['npm test', 'allow'],
    ['echo rm', 'allow'],
    ['grep -rn rm src', 'allow'],
    ['git log --grep rm', 'allow'],
    ['cat ~/.ssh/id_rsa', 'ask path.protected'],
    ['cat ~/.s$()sh/id_rsa', 'ask path.protected'],
    ['cat ~/.ssh/$x', 'ask path.protected'],
    ['cat "$d/.env"', 'ask path.protected'],
    ['cat /etc/$()shadow', 'ask path.protected'],
    ['echo x > ~/.bash$()rc', 'ask path.protected'],
    ['echo x > .c$(echo u)ff/policy.yml', 'ask path.protected'],
    ['dd if=x of=/etc/$()passwd', 'ask path.protected'],
    ['for f in .cuff/*; do rm $f; done', 'deny rule.deny'],
    ['for f in .cuff/*; do mv $f x; done', 'ask path.protected'],
    ['for f in ~/.ssh/*; do cat $f; done', 'ask path.protected'],
    ['for f in src/*; do cat $f; done', 'allow'],
    ['cp .env.example .env', 'deny path.protected'],
    ['black .claude/x.py', 'deny path.protected'],
    ['black src', 'allow'],
    ['unbuffer r$()m x', 'ask argument.unknown'],
    ['npx r$()m x', 'ask code.unseen'],
    ['echo "** $x **"', 'allow'],
    ['tee "$out.log"', 'allow'],
    ['cat src/$f.ts "$g.json"', 'allow'],
    ['git add "$x"', 'allow'],
    ['git commit -m "fix $x"', 'allow'],
    ['git unknown $x', 'ask argument.unknown'],
    ['git -C "$x" $y', 'ask argument.unknown'],
    ['LD_PRELOAD=./x.so ls', 'ask env'],
    ['rm -rf /', 'deny builtin.dangerous'],
    ['cuff policy approve 1a2b', 'deny builtin.dangerous'],
    ['npx cuff policy approve 1a2b', 'deny builtin.dangerous'],
    ['node dist/cuff.cjs policy approve --always 1a2b', 'deny builtin.dangerous'],
    ['sudo bash -c "cuff policy approve 1a2b"', 'deny builtin.dangerous'],
    ['cuff policy changes --accept; cuff policy init --yes', 'deny builtin.dangerous'],
  ])('where everything else is allowed: %j is %s', (command, wanted) => {
    expect(said(rules, command)).toBe(wanted);
  });

  it.each([
    ['rm -rf *', 'rm --recursive --force x', 'deny rule.deny'],
    ['rm -rf *', 'rm -Rf x', 'deny rule.deny'],
    ['rm -rf *', 'rm -f x', 'allow'],
    ['git push -f *', 'git push --force', 'deny rule.deny'],
    ['sed -i *', 'sed --in-place=.bak s/a/b/ x', 'deny rule.deny'],
    ['npm install *', 'npm i x', 'deny rule.deny'],
    ['npm run *', 'npm rum x', 'deny rule.deny'],
    ['cat /etc/passwd', 'cat //etc/./passwd', 'deny rule.deny'],
    ['cat /etc/passwd', 'cd /etc && cat passwd', 'deny rule.deny'],
    ['cat secrets/*', 'cat ./secrets/a', 'deny rule.deny'],
    ['bash *', 'bash -c ls', 'deny rule.deny'],
    ['find * -exec *', 'find . -exec ls {} +', 'deny rule.deny'],
    ['eval *', 'command eval ls', 'deny rule.deny'],
    ['timeout *', 'timeout 5 ls', 'deny rule.deny'],
    ['pip install *', 'pip3.11 install x', 'deny rule.deny'],
  ])('%j means %j, too: %s', (pattern, command, wanted) => {
    expect(said({ default: 'allow', deny: [pattern] }, command)).toBe(wanted);
  });

  it('is not needed for what is dangerous around a program that nobody knows', () => {
    expect(said({ default: 'allow' }, '$x')).toBe('allow');
    expect(said({ default: 'allow' }, 'LD_PRELOAD=./x.so $x')).toBe('ask env');
    expect(said({ default: 'allow' }, '$x < ~/.ssh/id_rsa')).toBe('ask path.protected');
  });

  it('leaves to the gate what only shows when it runs', () => {
    const judged = judgement(rules);
    expect(judged.decide('$x -rf v', PROJECT, { gated: true }).verdict).toBe('allow');
    expect(judged.decideProcess(['rm', '-rf', 'v'], PROJECT).verdict).toBe('deny');
    expect(judged.decideProcess(['/bin/ls'], PROJECT).verdict).toBe('allow');
  });
});

describe('several files', () => {
  const load = (origin: 'system' | 'user' | 'project', text: string) => ({
    policy: policyOf(text),
    origin,
    file: `/${origin}.yml`,
  });
  const decide = (files: readonly ReturnType<typeof load>[], command: string) => {
    const { verdict, code } = judge({ policies: files, project: PROJECT, home: HOME }).decide(
      command,
      PROJECT,
    );
    return verdict === 'allow' ? 'allow' : `${verdict} ${code}`;
  };

  it('deny what any of them denies', () => {
    const user = load('user', policyText({ deny: ['ls *'] }));
    const project = load('project', policyText({ allow: ['ls *', 'cat *'] }));
    expect(decide([user, project], 'ls')).toBe('deny rule.deny');
    expect(decide([user, project], 'cat x')).toBe('allow');
  });

  it('of a project open nothing that the others deny by default', () => {
    const user = load('user', policyText({ default: 'deny', allow: ['ls *'] }));
    const project = load('project', policyText({ default: 'allow', allow: ['cat *'] }));
    expect(decide([user, project], 'ls')).toBe('allow');
    expect(decide([user, project], 'cat x')).toBe('deny default.deny');
  });

  it('have the strictest mode of all', () => {
    const off = load('project', 'mode: off');
    const enforce = load('user', 'mode: enforce');
    const of = (files: readonly ReturnType<typeof load>[]) =>
      judge({ policies: files, project: PROJECT, home: HOME }).mode;
    expect([of([]), of([off]), of([enforce, off])]).toEqual(['off', 'off', 'enforce']);
  });
});

describe('a decision', () => {
  it('is told in a few lines: what, why, and what to do', () => {
    const judged = judgement({ allow: ['git log *', 'git status'] });
    const near = 'The nearest rule is `git log *`. Leave `--output=x` out.';
    expect(explain(judged.decide('git log --output=x; frobnicate', PROJECT)).split('\n')).toEqual([
      'cuff policy: needs approval (argument.effect).',
      `In \`git log --output=x\`, \`--output\` would write a file. ${near}`,
      'No rule allows `frobnicate`. Allowed are `git log *`, `git status`.',
    ]);
    expect(explain(judged.decide('git status', PROJECT))).toBe(
      'cuff policy: allowed (rule.allow).',
    );
  });

  it('tells where in the text', () => {
    const text = 'git status && cat /etc/passwd';
    const { reasons } = judgement({ allow: ['git status', 'cat *'] }).decide(text, PROJECT);
    const { from, to } = reasons[0]?.span ?? { from: 0, to: 0 };
    expect(text.slice(from, to)).toBe('/etc/passwd');
  });

  it('protects what is kept for nobody else', () => {
    const policy = policyOf('default: allow');
    const policies = [{ policy, origin: 'user', file: undefined }] as const;
    const judged = judge({ policies, project: PROJECT, home: HOME, kept: ['/state/approvals'] });
    expect(judged.decide('cp x /state/approvals/y', PROJECT).verdict).toBe('deny');
    expect(judged.decide('echo x > /state/approvals/y', PROJECT).verdict).toBe('deny');
    expect(judged.decide('cat /state/sessions/y', PROJECT).verdict).toBe('allow');
  });

  it('about a text that is made to be slow is made all the same', () => {
    const pieces = ['\n', '*', '*a', '[', '`a` ', '>a ', '++x', ' ', '{a,b}', '$x ', '"$x" '];
    const starts = ['', 'cat ', 'a=(', 'for x in ', 'echo $((x', 'cat <<E\n'];
    const strict = { default: 'allow', deny: ['rm *', 'cat *a*b*'] };
    const judged = [judgement({ allow: ['cat *a*b*', 'cat *'] }), judgement(strict)];
    const many = `${'{a,b}'.repeat(9)} `;
    const empty = `echo "$(cat <<'E'\n${'\n'.repeat(60_000)}x\nE\n)"`;
    const texts = starts.flatMap((start) =>
      [...pieces, many].map((piece) => start + piece.repeat(Math.floor(60_000 / piece.length))),
    );
    for (const text of [...texts, empty]) {
      for (const one of judged) expect(one.decide(text, PROJECT).verdict).toMatch(/ask|allow|deny/);
    }
  });

  it('is to ask when it cannot be made', () => {
    const policy = policyOf(policyText({ default: 'allow', allow: ['cat *'] }));
    const policies = [{ policy, origin: 'user', file: undefined }] as const;
    const real = (path: string): string => {
      if (path !== PROJECT) throw new Error('the disk is gone');
      return path;
    };
    const judged = judge({ policies, project: PROJECT, home: HOME, real });
    const { verdict, reasons } = judged.decide('cat x', PROJECT);
    expect([verdict, reasons[0]?.detail, reasons[0]?.message]).toEqual([
      'ask',
      'fault',
      'It could not be judged: the disk is gone.',
    ]);
  });

  it('sees where links lead, if somebody tells', () => {
    const policy = policyOf(policyText({ allow: ['cat *'] }));
    const policies = [{ policy, origin: 'user', file: undefined }] as const;
    const real = (path: string): string => path.replace(`${PROJECT}/link`, '/etc');
    const judged = judge({ policies, project: PROJECT, home: HOME, real });
    expect(judged.decide('cat link/passwd', PROJECT).code).toBe('path.outside');
    expect(judged.decide('cat src/x', PROJECT).verdict).toBe('allow');
  });
});

describe('what find brings', () => {
  const allow = ['find *', 'grep *', 'wc *', 'cat *', 'cp *', 'chmod +x *'];
  it.each([
    ["find src -name '*.ts' -exec grep -l x {} +", 'allow'],
    ["find . -name '*.md' -exec wc -l {} +", 'allow'],
    ["find . -type f -not -path './.git/*' -exec grep -l x {} +", 'allow'],
    ["find . -name '*.sh' -exec chmod +x {} +", 'allow'],
    ["find src -name '*.ts' -exec cp {} {}.bak \\;", 'allow'],
    ['find . -name .env -exec cat {} +', 'ask path.protected'],
    ["find . -iname '.ENV*' -exec cat {} \\;", 'ask path.protected'],
    ['find . -maxdepth 0 -exec cat {}/.env \\;', 'ask path.unknown'],
    ['find src -exec cat {}/../../x \\;', 'ask path.unknown'],
    ['find . -name pre-commit -exec cp x {} \\;', 'ask path.unknown'],
    ['find . -exec cp x {} \\;', 'ask path.unknown'],
  ])('%s: %s', (command, expected) => {
    expect(said({ allow }, command)).toBe(expected);
  });
});
