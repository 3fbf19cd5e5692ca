// What a linter says of a policy: each warning at its place, and none where nothing is odd.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lintPolicy } from '../../src/policy/lint.ts';
import { HOME, PROJECT, policyText, said } from './helper.ts';

/** `line:column code message`, one for each warning. */
function lint(text: string): readonly string[] {
  const result = lintPolicy(text, { home: HOME, project: PROJECT });
  if (result.kind === 'invalid') {
    return result.problems.map(({ line, column, message }) => `${line}:${column} ${message}`);
  }
  return result.warnings.map(
    ({ line, column, code, message }) => `${line}:${column} ${code} ${message}`,
  );
}

/** The codes of what is said about a policy with these rules. */
function codes(rules: Parameters<typeof policyText>[0]): readonly string[] {
  const result = lintPolicy(policyText(rules), { home: HOME, project: PROJECT });
  if (result.kind === 'invalid') return ['invalid'];
  return result.warnings.map(({ code }) => code);
}

describe('a linted policy', () => {
  it('says nothing of rules that mean what they say', () => {
    const allow = [
      'git status',
      'git log *',
      'npm test',
      'rm <path>',
      'cat <path>',
      'head -n <int>',
    ];
    const more = 'network: [example.org, "*.example.org"]\nscopes: {read: [/usr/share/doc]}\n';
    expect(codes({ allow, deny: ['git push *', 'sudo *'], more })).toEqual([]);
  });

  it('says where: at the pattern, in the order of the file', () => {
    const text = [
      'default: ask',
      'policies:',
      '  - name: dev',
      '    commands:',
      '      - pattern: rm *',
      '      - decision: allow',
      '        pattern: frobnicate *',
      'env:',
      '  - CI',
    ].join('\n');
    expect(lint(text)).toEqual([
      '5:9 star.destructive This deletes, so `*` means ask.',
      '7:9 star.unprofiled What `frobnicate` does with arguments is not known, so `*` means ask.',
      '9:5 env `CI` may be set anyway.',
    ]);
  });

  it('passes on what makes a file no policy', () => {
    expect(lint('default: perhaps\n')).toEqual(['1:10 default: must be one of allow, ask, deny']);
  });

  it.each([
    ['node *', 'star.narrow', 'covers nothing that it would run', '`node FILE *`'],
    ['python *', 'star.narrow', 'covers nothing that it would run', '`python FILE *`'],
    ['python3 *', 'star.narrow', 'covers nothing that it would run', '`python3 FILE *`'],
    ['cargo *', 'star.narrow', 'are `cargo build` and `cargo test`', '`cargo {build,test} *`'],
    ['go *', 'star.narrow', 'are `go build` and `go test`', '`go {build,test} *`'],
    ['git *', 'star.narrow', 'are `git commit` and `git add`', '`git {commit,add} *`'],
    ['npm *', 'star.narrow', 'are `npm test` and `npm run`', '`npm {test,run} *`'],
    ['docker *', 'star.narrow', 'are `docker build` and `docker run`', '`docker {build,run} *`'],
    ['uv run *', 'star.narrow', 'covers no program', '`uv run NAME *`'],
    ['npx *', 'star.narrow', 'covers no program', '`npx NAME *`'],
    ['npm run *', 'star.wide', 'every script or target', '`npm run {build,test} *`'],
    ['make *', 'star.wide', 'every script or target', '`make {build,test} *`'],
  ])('says what the star of `%s` covers, and what to write', (pattern, code, message, hint) => {
    const result = lintPolicy(policyText({ allow: [pattern] }), { home: HOME, project: PROJECT });
    const warnings = result.kind === 'valid' ? result.warnings : [];
    expect(warnings.map((one) => one.code)).toEqual([code]);
    expect(warnings[0]?.message).toContain(message);
    expect(warnings[0]?.hint).toContain(hint);
  });

  it('says of a narrow star only what is so', () => {
    // What it names is asked about, and what it advises to write allows that.
    const asked = (allow: string, command: string): string => said({ allow: [allow] }, command);
    expect(asked('cargo *', 'cargo build')).toBe('ask argument.effect');
    expect(asked('cargo {build,test} *', 'cargo build')).toBe('allow');
    expect(asked('node *', 'node app.js')).toBe('ask argument.effect');
    expect(asked('node app.js *', 'node app.js')).toBe('allow');
    expect(asked('uv run *', 'uv run pytest')).toBe('ask argument.effect');
    expect(asked('uv run pytest *', 'uv run pytest')).toBe('allow');
    expect(asked('npm run *', 'npm run deploy')).toBe('allow');
  });

  it('says nothing of a star that covers what people expect', () => {
    const allow = ['git log *', 'cargo test *', 'npm run build *', 'node --test *', 'ls *'];
    const fine = [...allow, 'pytest *', 'uv run pytest *', 'make test', 'go run *', 'tox *'];
    expect(codes({ allow: fine })).toEqual([]);
    expect(codes({ allow: [], deny: ['cargo *', 'npm run *'] })).toEqual([]);
  });

  it('finds rules that another rule denies or asks about', () => {
    expect(codes({ allow: ['git push origin main'], deny: ['git push'] })).toEqual(['shadowed']);
    expect(codes({ allow: ['rm -r -f build'], ask: ['rm -rf *'] })).toEqual(['shadowed']);
    expect(codes({ allow: ['git {push,pull} origin'], deny: ['git push'] })).toEqual([]);
    expect(codes({ allow: ['git push'], deny: ['git push --force'] })).toEqual([]);
  });

  it('finds rules that are there twice, however they are written', () => {
    expect(codes({ allow: ['git  status', "git 'status'"] })).toEqual(['duplicate']);
    expect(codes({ allow: ['git status'], deny: ['git statu'] })).toEqual([]);
  });

  it('finds patterns that no simple command can match', () => {
    expect(codes({ allow: ['git status && git log'] })).toEqual(['never']);
    expect(codes({ allow: ['cat <path> | head'] })).toEqual(['never']);
    expect(codes({ allow: ['NODE_ENV=test npm test'] })).toEqual(['never']);
    expect(codes({ allow: ['"git status"'] })).toEqual(['never']);
    expect(codes({ allow: ["echo '|'"] })).toEqual([]);
  });

  it('finds stars on what nobody knows, on what deletes, and on what runs anything', () => {
    expect(codes({ allow: ['frobnicate *'] })).toEqual(['star.unprofiled']);
    expect(codes({ allow: ['frobnicate --level=*'] })).toEqual(['star.unprofiled']);
    expect(codes({ allow: ['frobnicate --level=3'] })).toEqual([]);
    expect(codes({ allow: ['rm *'] })).toEqual(['star.destructive']);
    expect(codes({ allow: ['bash *'] })).toEqual(['broad']);
    expect(codes({ allow: ['sudo *'] })).toEqual(['broad']);
    expect(codes({ deny: ['rm *', 'sudo *', 'frobnicate *'] })).toEqual([]);
  });

  it('finds `args: any` on what runs code', () => {
    const of = (pattern: string): readonly string[] =>
      lint(`policies: [{name: a, commands: [{pattern: "${pattern}", args: any}]}]`);
    expect(of('python3 *').join()).toContain('broad `python3` runs whatever it is given');
    expect(of('bash *').join()).toContain('broad');
    expect(of('frobnicate *')).toEqual([]);
  });

  it('finds hosts that a star leaves open', () => {
    expect(codes({ allow: ['curl https://example.org*'] })).toEqual(['host']);
    expect(codes({ allow: ['curl https://*.example.org/x'] })).toEqual(['host']);
    expect(codes({ allow: ['curl https://example.org/*', 'curl <url:example.org>'] })).toEqual([]);
  });

  it('finds nothing about what looks like a hole and is quoted', () => {
    expect(codes({ allow: ["grep '<div>' <path>"] })).toEqual([]);
  });

  it('finds defaults and modes that protect nothing', () => {
    expect(codes({ default: 'allow', allow: ['git status'] })).toEqual(['default']);
    expect(codes({ default: 'allow', deny: ['rm *'] })).toEqual([]);
    expect(codes({ more: 'mode: "off"\n' })).toEqual(['mode']);
  });

  it('finds scopes that change nothing, and those that open everything', () => {
    const scopes = (list: string): readonly string[] => codes({ more: `scopes: {${list}}\n` });
    expect(scopes('read: [src]')).toEqual(['scope']);
    expect(scopes('read: [../lib]')).toEqual([]);
    expect(scopes('read: [/srv/a, /srv/a/b]')).toEqual(['scope']);
    expect(scopes('read: [/srv/a], write: [/srv]')).toEqual(['scope']);
    expect(scopes('write: [/]')).toEqual(['scope']);
    expect(scopes('read: ["~"]')).toEqual(['scope']);
    expect(scopes('read: [~/.ssh]')).toEqual(['scope']);
    expect(scopes('write: [~/.bashrc]')).toEqual(['scope']);
    expect(scopes('write: [/opt/cache]')).toEqual([]);
    expect(codes({ more: 'redirects: [.git/hooks/pre-commit, out.txt]\n' })).toEqual(['scope']);
  });

  it('finds variables that choose programs, and hosts that are none', () => {
    expect(codes({ more: 'env: [PATH, "GIT_*", "*", MY_APP]\n' })).toEqual(['env', 'env', 'env']);
    expect(codes({ more: 'network: ["https://x.example/", "*", "a.*"]\n' })).toEqual([
      'network',
      'network',
      'network',
    ]);
  });

  it('has an answer for any pattern that a policy can have', () => {
    const word = fc.oneof(
      fc.constantFrom('git', 'rm', '*', '<path>', '<x>', '{a,b}', '[-f]', '&&', "'a b'", 'A=1'),
      fc.string({ maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
        const found = codes({ allow: [words.join(' ')], deny: [words.join(' ')] });
        expect(Array.isArray(found)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

it('keys that answer for a person are found in a project’s policy alone', () => {
  const text = 'default: ask\nanswer_prompts: true\non_ask: allow_recorded\n';
  const codes = (guest: boolean) => {
    const lint = lintPolicy(text, { home: HOME, project: PROJECT, guest });
    return lint.kind === 'valid' ? lint.warnings.map(({ code, line }) => [code, line]) : lint;
  };
  expect(codes(true)).toEqual([
    ['answers', 2],
    ['answers', 3],
  ]);
  expect(codes(false)).toEqual([]);
});
