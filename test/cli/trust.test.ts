// `cuff trust` as a program: who may use it, what it lists, and what modules may load afterwards.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { pluginClass } from '../../src/host/modules.ts';
import type { PluginClass } from '../../src/host/plugin.ts';
import { loadSettings } from '../../src/host/settings.ts';
import { trusted } from '../trust.ts';
import { binary, Cli, until } from './helper.ts';
import { Place } from './init/helper.ts';
import { atOwnTerminal, type Ended } from './terminal.ts';

const cli = new Cli();
const config = join(cli.root, 'config');
const list = join(config, 'cuff', 'trusted.json');
let project = '';
let projects = 0;

beforeEach(() => {
  projects += 1;
  project = join(realpathSync(cli.root), `project-${projects}`);
  mkdirSync(project);
});

afterAll(() => cli.close());

function write(name: string, text: string): void {
  mkdirSync(dirname(join(project, name)), { recursive: true });
  writeFileSync(join(project, name), text);
}

const NODE = [process.execPath, binary('cuff')];

function env(more: Readonly<Record<string, string>> = {}) {
  return { ...cli.env, XDG_CONFIG_HOME: config, ...more };
}

function person(command: readonly string[], more = {}, asAgent = false): Promise<Ended> {
  return atOwnTerminal(command, { cwd: project, env: env(more), asAgent });
}

describe('cuff trust', () => {
  it('lists exactly what is there, for its owner alone', async () => {
    write('settings.yml', 'plugins:\n  derun:\n    enabled: true\n');
    write('.cuff/policy.yml', 'default: ask\n');
    expect(await person([...NODE, 'trust'])).toEqual({
      code: 0,
      out: '',
      err: `Trusted in ${project}, as they are now:\n  settings.yml\n  .cuff/policy.yml\n`,
    });
    expect(statSync(list).mode & 0o777).toBe(0o600);
    const { out } = await cli.with({ XDG_CONFIG_HOME: config }, 'trust', '--list');
    expect(out).toContain(`${project}  settings.yml, .cuff/policy.yml\n`);
    write('settings.yml', 'plugins:\n  derun:\n    enabled: false\n');
    const shown = await cli.with({ XDG_CONFIG_HOME: config }, 'trust', '--show', project);
    expect(shown.out).toContain(
      '  settings.yml: changed since it was trusted\n    plugins.derun.enabled\n' +
        '  .cuff/policy.yml: trusted\n',
    );
    const gone = { code: 0, out: '', err: `${project} is trusted no more.\n` };
    expect(await person([...NODE, 'trust', '--remove'])).toEqual(gone);
    const again = await cli.with({ XDG_CONFIG_HOME: config }, 'trust', '--show', project, '--json');
    expect(JSON.parse(again.out)).toEqual({
      directory: project,
      trusted_at: null,
      files: [
        { file: 'settings.yml', state: 'not trusted', keys: ['plugins.derun.enabled'] },
        { file: '.cuff/policy.yml', state: 'not trusted', keys: null },
      ],
    });
  });

  const REFUSED = 'Run it in a terminal of your own.\n';
  const trust = [...NODE, 'trust'];
  const fresh = ['env', '-i', 'PATH=/usr/bin:/bin', `XDG_CONFIG_HOME=${config}`];

  it.each([
    ['with an agent’s variable', trust, 'An agent cannot trust a project: CLAUDECODE is set.'],
    [
      'with the variable of an ancestor',
      // The shell waits for it, and its environment still has what env removes.
      ['sh', '-c', `${[...fresh, ...trust].join(' ')}; exit $?`],
      /^cuff: An agent cannot trust a project: CLAUDECODE is set for process \d+, which started/,
    ],
  ])('refuses %s', async (_, command, words) => {
    write('settings.yml', '');
    const { code, err } = await person(command, { CLAUDECODE: '1' }, true);
    expect([code, err]).toEqual([2, expect.stringMatching(words)]);
    expect(existsSync(list) && readFileSync(list, 'utf8').includes(project)).toBe(false);
  });

  it('refuses below a run of ours, also below that of a person', async () => {
    write('settings.yml', '');
    const { code, err } = await person([...NODE, 'run', '--', ...trust]);
    expect([code, err]).toEqual([2, `cuff: An agent cannot trust a project.\n${REFUSED}`]);
  });

  it('refuses below a run without a runner, whatever state root it names', async () => {
    write('settings.yml', '');
    const elsewhere = ['env', `CUFF_STATE_ROOT=${join(project, 'state')}`, ...trust];
    const command = [...NODE, 'run', '--', ...elsewhere];
    const { code, err } = await person(command, { CUFF_RUNNER: 'off' });
    expect([code, err]).toEqual([2, `cuff: An agent cannot trust a project.\n${REFUSED}`]);
  });

  it.each([
    ['a generated id', []],
    ['an id of its own', ['--session-id', 'chosen']],
  ])('refuses below a run of %s whose runner was killed', async (_, words) => {
    write('settings.yml', '');
    const [root, ended] = [join(project, 'state'), join(project, 'ended')];
    // The runner is the parent, and says so in the capture shortly after the start.
    // Its terminal goes with `cuff run`, and Node does not leave SIGHUP ignored.
    const script = [
      `trap '' HUP; until grep -qs '"pid":' '${root}'/sessions/*/meta.json; do :; done`,
      `kill -9 $PPID; while kill -0 $PPID 2>/dev/null; do :; done`,
      `setsid -w '${trust.join("' '")}' 2>err; echo $? >code; mv code '${ended}'`,
    ].join('\n');
    const run = [...NODE, 'run', '--no-tty', ...words, '--', 'sh', '-c', script];
    await person(run, { CUFF_STATE_ROOT: root });
    await until(() => existsSync(ended), 'the command ends');
    expect(readFileSync(join(project, 'err'), 'utf8')).toBe(
      `cuff: An agent cannot trust a project.\n${REFUSED}`,
    );
    expect(readFileSync(ended, 'utf8')).toBe('2\n');
  });

  it('refuses without a terminal', async () => {
    const live = cli.start(['setsid', '-w', ...trust, project], { env: env() as never });
    const { code, err } = await live.result;
    const why = 'cuff: Only a person at a terminal can do this; there is no terminal.\n';
    expect([code, err]).toEqual([2, `${why}${REFUSED}`]);
  });
});

describe('cuff init', () => {
  it('trusts what it wrote when a person runs it', async () => {
    const place = new Place();
    const command = [...NODE, 'init', '--client', 'claude'];
    await atOwnTerminal(command, { cwd: place.project, env: place.env });
    const text = readFileSync(join(place.home, '.config', 'cuff', 'trusted.json'), 'utf8');
    const files = JSON.parse(text).directories[place.project].files;
    expect(Object.keys(files)).toEqual(['settings.yml']);
    place.close();
  });

  it.each([
    ['with an agent’s variable', ['env', 'QWEN_CODE=1']],
    ['below a run of ours', [...NODE, 'run', '--']],
    ['without a terminal', ['setsid', '-w']],
  ])('trusts nothing %s, and says that the settings wait', async (_, before) => {
    const place = new Place();
    const command = [...before, ...NODE, 'init', '--client', 'claude'];
    const { code, out, err } = await atOwnTerminal(command, { cwd: place.project, env: place.env });
    expect([code, out + err]).toEqual([0, expect.stringContaining('cuff trust')]);
    expect(existsSync(join(place.project, 'settings.yml'))).toBe(true);
    expect(existsSync(join(place.home, '.config', 'cuff', 'trusted.json'))).toBe(false);
    place.close();
  });
});

describe('trusted modules', () => {
  const MODULE = `import { value } from './lib/value.mjs';
import { deep } from 'deep';
export default class { static pluginVersion = value + deep; }
`;

  async function loaded(): Promise<PluginClass> {
    const options = { cwd: project, env: env(), builtins: {} };
    const { plugins, waiting } = await loadSettings(options);
    expect(waiting).toBeUndefined();
    const [mine] = plugins;
    if (mine === undefined) throw new Error('it is not there');
    return pluginClass(mine, {});
  }

  function modules(): void {
    write('settings.yml', 'plugins: { mine: { module: ./mine.mjs } }\n');
    write('mine.mjs', MODULE);
    write('lib/value.mjs', "export const value = 'v';\n");
    write('node_modules/deep/package.json', '{"exports":{"import":"./a.mjs","require":"./b.js"}}');
    write('node_modules/deep/a.mjs', "import c from './c.cjs';\nexport const deep = c;\n");
    write('node_modules/deep/b.js', "module.exports = require('./c.cjs');\n");
    write('node_modules/deep/c.cjs', "module.exports = 'd';\n");
    write('other.mjs', 'export default 1;\n');
  }

  it('are listed with all they import, also from node_modules', async () => {
    modules();
    trusted(project, env());
    const names = Object.keys(JSON.parse(readFileSync(list, 'utf8')).directories[project].modules);
    expect(names.map((name) => name.slice(project.length + 1))).toEqual([
      'lib/value.mjs',
      'mine.mjs',
      ...['a.mjs', 'b.js', 'c.cjs', 'package.json'].map((name) => `node_modules/deep/${name}`),
    ]);
    expect((await loaded()).pluginVersion).toBe('vd');
  });

  it.each(['lib/value.mjs', 'node_modules/deep/c.cjs', 'node_modules/deep/package.json'])(
    'wait again when %s changes',
    async (name) => {
      modules();
      trusted(project, env());
      const before = readFileSync(join(project, name), 'utf8');
      write(name, `${before}\n`);
      const { waiting } = await loadSettings({ cwd: project, env: env(), builtins: {} });
      expect(waiting).toMatchObject([
        { file: 'settings.yml', why: `${join(project, name)} has changed since it was trusted` },
      ]);
    },
  );

  it('are those that were trusted, whatever a variable says later', async () => {
    modules();
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the settings' own notation
    write('settings.yml', 'plugins: { mine: { module: "./${NAME}.mjs" } }\n');
    trusted(project, env({ NAME: 'mine' }));
    const options = { cwd: project, env: env({ NAME: 'other' }), builtins: {} };
    await expect(loadSettings(options)).rejects.toThrow('was not trusted with the settings');
  });

  it('do not count by a list that others may write', async () => {
    modules();
    trusted(project, env());
    chmodSync(list, 0o622);
    const { waiting } = await loadSettings({ cwd: project, env: env(), builtins: {} });
    chmodSync(list, 0o600);
    expect(waiting?.[0]?.why).toContain('other users may have written it');
  });
});
