// What settings say once they are read: where the file is, what its keys mean, variables.
import { chmodSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { identityText, newIdentity, recipientText } from '../../src/age/x25519.ts';
import { BUILTINS as REAL } from '../../src/dialects/builtins.ts';
import { findSettings, loadSettings } from '../../src/host/settings.ts';
import { ownRecipients } from '../../src/packing/recipients.ts';
import { lacking } from '../requirements.ts';
import { BUILTINS, Project } from './settings-helper.ts';

let project: Project;
beforeEach(() => {
  project = new Project();
});
afterEach(() => project.close());

const plugin = (name: string, more: object = {}) => ({
  name,
  enabled: true,
  type: 'in_source',
  module: undefined,
  config: {},
  ...more,
});

describe('the settings file', () => {
  const find = (env = project.env) => findSettings(project.directory, env);

  it('is looked for in four places, in this order', () => {
    const named = { ...project.env, CUFF_SETTINGS: 'elsewhere.yml' };
    const xdg = { ...project.env, XDG_CONFIG_HOME: project.path('xdg') };
    expect(find()).toBeUndefined();
    const home = project.write('home/.config/cuff/settings.yml', '');
    expect(find()).toBe(home);
    expect(find(xdg)).toBeUndefined();
    const inXdg = project.write('xdg/cuff/settings.yml', '');
    expect(find(xdg)).toBe(inXdg);
    const hidden = project.write('.cuff/settings.yml', '');
    expect(find(xdg)).toBe(hidden);
    const plain = project.write('settings.yml', '');
    expect(find(xdg)).toBe(plain);
    expect(find(named)).toBe(project.path('elsewhere.yml'));
  });

  it('is not looked for below a relative XDG_CONFIG_HOME', () => {
    const home = project.write('home/.config/cuff/settings.yml', '');
    expect(find({ ...project.env, XDG_CONFIG_HOME: 'xdg' })).toBe(home);
  });

  it('may have a file in the place of .cuff', () => {
    project.write('.cuff', 'not a directory');
    expect(find()).toBeUndefined();
  });

  it('is there when it is a link to nowhere, and then it is wrong', async () => {
    symlinkSync('nowhere', project.path('settings.yml'));
    await expect(project.load()).rejects.toThrow(
      `${project.path('settings.yml')}: the settings file does not exist`,
    );
  });

  it('that CUFF_SETTINGS names must be there', async () => {
    project.write('settings.yml', '');
    project.env.CUFF_SETTINGS = 'gone.yml';
    await expect(project.load()).rejects.toMatchObject({
      code: 'settings_invalid',
      message: `${project.path('gone.yml')}: the settings file does not exist`,
      hint: 'Correct the file, or name another one in CUFF_SETTINGS.',
    });
  });

  it('is a file, not a directory', async () => {
    mkdirSync(project.path('settings.yml'));
    const path = project.path('settings.yml');
    await expect(project.load()).rejects.toThrow(`${path}: expected a file, found a directory`);
  });

  it('is not read when it is too large', async () => {
    const large = project.load(`# ${'x'.repeat(10 * 1024 * 1024)}\n`);
    await expect(large).rejects.toThrow(
      '10485763 bytes are too many for settings, at most 256 KiB',
    );
  });

  it('is UTF-8', async () => {
    const latin = project.load(Buffer.from('tool_names: \xfcnderscore', 'latin1'));
    await expect(latin).rejects.toThrow(': expected UTF-8 text');
  });

  it.skipIf(lacking(process.getuid?.() === 0, 'root may read every file'))(
    'that may not be read is an error',
    async () => {
      chmodSync(project.write('settings.yml', ''), 0o000);
      await expect(project.load()).rejects.toThrow('the settings file may not be read');
    },
  );
});

describe('without anything said,', () => {
  const defaults = [plugin('bash_recorder'), plugin('derun')];

  it('no file means bash_recorder and derun with defaults', async () => {
    expect(await project.load()).toEqual({ file: undefined, plugins: defaults });
  });

  it.each([
    ['an empty file', ''],
    ['a byte order mark', '\uFEFF'],
    ['only comments', '# plugins:\n'],
    ['an empty document', '---\n...\n'],
    ['a bare key', 'plugins:\n'],
    ['another key alone', 'tool_names: underscore\n'],
  ])('%s means the same', async (_, text) => {
    expect((await project.load(text)).plugins).toEqual(defaults);
  });

  it('a plugin whose keys are all commented out has its defaults', async () => {
    const { plugins } = await project.load('plugins:\n  derun:\n    # enabled: false\n');
    expect(plugins).toEqual([plugin('derun')]);
    const text = 'plugins:\n  derun:\n    enabled: false\n    config:\n';
    expect((await project.load(text)).plugins).toEqual([plugin('derun', { enabled: false })]);
  });
});

describe('settings', () => {
  it('mount the plugins they name, in their order, and no others', async () => {
    const path = project.write('plugins/mine.js', 'export default class {}');
    const text = `
plugins:
  mine:
    module: ./plugins/mine.js
    config: { limit: 3, names: [a, b], deep: { on: true, none: null } }
  second: { module: opencuff.plugins.builtin.derun }
  derun: { enabled: false }
tool_names: dotted
ask: { min_ms: 0 }
`;
    const config = { limit: 3, names: ['a', 'b'], deep: { on: true, none: null } };
    expect(await project.load(text)).toEqual({
      file: project.path('settings.yml'),
      toolNames: 'dotted',
      askMinMs: 0,
      plugins: [
        plugin('mine', { module: path, config }),
        plugin('second', { module: 'opencuff.plugins.builtin.derun' }),
        plugin('derun', { enabled: false }),
      ],
    });
  });

  it("say for whom captures are encrypted, in the user's own file alone", async () => {
    const recipient = recipientText(newIdentity().recipient);
    const text = `encryption: {recipients: [${recipient}, ssh-ed25519 AAAA me@home]}\n`;
    const own = project.write('home/.config/cuff/settings.yml', text);
    expect(await project.load()).toEqual({
      file: own,
      plugins: [plugin('bash_recorder'), plugin('derun')],
    });
    const file = project.path('settings.yml');
    const { ignored } = await project.load(`seal:\nencryption:\n  recipients: []\n`);
    expect(ignored).toBe(
      `${file}: \`seal\`, \`encryption\` says nothing here; it counts in ${own}.`,
    );
    const read = (cwd = project.directory) => ownRecipients(cwd, project.env);
    expect(read().map((one) => one.text)).toEqual([recipient, 'ssh-ed25519 AAAA me@home']);
    const named = { ...project.env, CUFF_SETTINGS: file };
    expect(ownRecipients(project.directory, named)).toEqual(read());
  });

  it('refuse what is no recipient, and do not repeat it: it may be a secret key', async () => {
    const secret = identityText(newIdentity());
    const text = `encryption:\n  love: x\n  recipients: [${secret}, 7, -oProxyCommand]\n`;
    const expected = 'expected a recipient of age, such as `cuff identity` shows: age1...';
    const problems = await project.problems(text);
    expect(problems).toEqual([
      "2:3: unknown key 'love' in encryption; did you mean 'live'?",
      `3:16: encryption.recipients[0]: ${expected}`,
      `3:92: encryption.recipients[1]: ${expected}`,
      `3:95: encryption.recipients[2]: ${expected}`,
    ]);
    expect(await project.problems('encryption: {recipients: age1}\n')).toEqual([
      "1:26: encryption.recipients: expected a list of recipients of age, found the text 'age1'",
    ]);
    expect(await project.problems('encryption: {live: ram}\n')).toEqual([
      "1:20: encryption.live: expected plain or memory, found the text 'ram'",
    ]);
    project.write('home/.config/cuff/settings.yml', 'encryption: {recipients: [age1]}\n');
    expect(() => ownRecipients('/', project.env)).toThrow(
      'encryption.recipients[0] is no recipient of age',
    );
  });

  it('start the path of a module at their own directory', async () => {
    const path = project.write('.cuff/mine.js', 'export default class {}');
    project.write('.cuff/settings.yml', 'plugins: { mine: { module: ./mine.js } }');
    expect((await project.load()).plugins).toEqual([plugin('mine', { module: path })]);
  });

  it('may be anywhere when the caller says so', async () => {
    project.write('other/place.yml', 'plugins: { derun: }');
    const options = { cwd: project.directory, env: {}, builtins: BUILTINS };
    const settings = await loadSettings({ ...options, file: 'other/place.yml' });
    expect(settings).toEqual({
      file: project.path('other/place.yml'),
      plugins: [plugin('derun')],
    });
  });

  it.each([
    ['CRLF', 'plugins:\r\n  derun:\r\n    enabled: false\r\n'],
    ['a byte order mark', '\uFEFFplugins:\n  derun:\n    enabled: false\n'],
    ['JSON', '{"plugins": {"derun": {"enabled": false}}}'],
    ['an anchor and its alias', 'plugins:\n  derun: &off { enabled: &no false }\n'],
    ['a document that starts and ends', '---\nplugins:\n  derun: { enabled: false }\n...\n'],
  ])('may be written with %s', async (_, text) => {
    expect((await project.load(text)).plugins).toEqual([plugin('derun', { enabled: false })]);
  });

  it('may say a thing twice with an alias', async () => {
    const text = `
plugins:
  bash_recorder: { config: &shared { token: abc } }
  again: { module: opencuff.plugins.builtin.bash_recorder, config: *shared }
`;
    const configs = (await project.load(text)).plugins.map(({ config }) => config);
    expect(configs).toEqual([{ token: 'abc' }, { token: 'abc' }]);
  });
});

describe('variables', () => {
  const token = async (text: string) => {
    const { plugins } = await project.load(`plugins: { bash_recorder: { config: ${text} } }`);
    return plugins.map(({ config }) => config as { token: string })[0]?.token;
  };

  it('are put into strings, however these are quoted', async () => {
    Object.assign(project.env, { A: 'one', B_2: 'two', EMPTY: '' });
    expect(await token(`{ token: "\${A}" }`)).toBe('one');
    expect(await token(`{ token: '<\${A}\${B_2}>\${EMPTY}' }`)).toBe('<onetwo>');
    project.env.A = `\${B_2}`;
    expect(await token(`{ token: "\${A}" }`)).toBe(`\${B_2}`);
  });

  it('are left alone behind two dollars, and without braces', async () => {
    project.env.A = 'one';
    expect(await token(`{ token: "$\${A} $A $$ \${A}$\${" }`)).toBe(`\${A} $A $$ one\${`);
  });

  it('stay text, whatever they look like', async () => {
    project.env.A = '7';
    expect(await token(`{ token: "\${A}" }`)).toBe('7');
  });

  it('are not put into keys', async () => {
    project.env.A = 'token';
    const lines = await project.problems(`plugins: { bash_recorder: { config: { "\${A}": x } } }`);
    expect(lines).toEqual([
      `1:39: unknown key '\${A}' in plugins.bash_recorder.config; known are recording, token`,
    ]);
  });
});

describe("the seed's examples", () => {
  const example = async (name: string) => {
    const text = readFileSync(join(import.meta.dirname, 'examples', `${name}.yml`), 'utf8');
    project.write('settings.yml', text);
    const options = { cwd: project.directory, env: project.env, builtins: REAL, trusted: true };
    const { plugins } = await loadSettings(options);
    const [{ config, ...one } = plugin('none'), ...others] = plugins;
    expect(others).toEqual([]);
    const module = 'opencuff.plugins.builtin.bash_recorder';
    expect(one).toEqual({ name: 'bash_recorder', enabled: true, type: 'in_source', module });
    return config;
  };

  it('load: the first one', async () => {
    expect(await example('basic')).toEqual({
      recording: {
        enabled: true,
        directory: '.cuff/recordings',
        capture_env: false,
        env_allowlist: ['PATH', 'HOME', 'USER', 'SHELL', 'PWD', 'VIRTUAL_ENV'],
        capture_output: true,
        max_output_size: 1_000_000,
        session_mode: 'per_conversation',
        retention_days: 30,
      },
      execution: {
        default_timeout: 120,
        max_timeout: 600,
        working_directory: null,
        shell: '/bin/bash',
        inherit_env: true,
        env_overrides: { CI: 'true' },
      },
    });
  });

  it('load: development', async () => {
    expect(await example('development')).toEqual({
      recording: {
        enabled: true,
        directory: '.cuff/recordings',
        capture_env: true,
        env_allowlist: ['PATH', 'HOME', 'USER', 'SHELL', 'PWD', 'VIRTUAL_ENV', 'NODE_ENV'],
        capture_output: true,
        max_output_size: 5_000_000,
        session_mode: 'per_conversation',
        retention_days: 90,
      },
      execution: { default_timeout: 300, max_timeout: 600, shell: '/bin/bash' },
    });
  });

  it('load: production', async () => {
    expect(await example('production')).toEqual({
      recording: {
        enabled: true,
        directory: '/var/log/cuff/recordings',
        capture_env: false,
        capture_output: false,
        session_mode: 'continuous',
        retention_days: 7,
      },
      execution: { default_timeout: 60, max_timeout: 120, shell: '/bin/sh' },
    });
  });

  it('load: policy generation', async () => {
    expect(await example('policy-generation')).toEqual({
      recording: {
        enabled: true,
        directory: '.cuff/recordings',
        capture_env: false,
        capture_output: false,
        session_mode: 'continuous',
        retention_days: 0,
      },
      execution: { default_timeout: 120, max_timeout: 600 },
    });
  });

  it('are refused with limits and places that cannot be meant', async () => {
    const said = async (plugin: string, config: string): Promise<string> => {
      project.write('settings.yml', `plugins:\n  ${plugin}:\n    config:\n      ${config}\n`);
      const where = { cwd: project.directory, env: project.env, builtins: REAL, trusted: true };
      const failed = await loadSettings({ ...where, running: true }).catch((error) => error);
      return String(failed.message).replaceAll(project.directory, '.');
    };
    const at = './settings.yml:4';
    const recorder = `plugins.bash_recorder.config`;
    expect(await said('bash_recorder', 'recording: { max_output_size: 0 }')).toBe(
      `${at}:20: ${recorder}.recording.max_output_size: expected 1 or more, found the number 0`,
    );
    expect(await said('bash_recorder', 'execution: { default_timeout: 601 }')).toBe(
      `${at}:20: ${recorder}.execution.default_timeout: ` +
        'expected at most max_timeout, which is 600, found 601',
    );
    expect(await said('bash_recorder', 'execution: { shell: /no/bash }')).toBe(
      `${at}:20: ${recorder}.execution.shell: there is no program '/no/bash'`,
    );
    expect(await said('cuff_shell', 'working_directory: none')).toBe(
      `${at}:7: plugins.cuff_shell.config.working_directory: there is no directory ./none`,
    );
    expect(await said('claude_code', 'default_timeout_ms: 600001')).toContain(
      'default_timeout_ms: expected at most max_timeout_ms, which is 600000, found 600001',
    );
    // A maximum below the usual default is meant.
    expect(await said('bash_recorder', 'execution: { max_timeout: 60 }')).toBe('undefined');
    expect(await said('bash_recorder', 'execution: { shell: bash }')).toBe('undefined');
  });

  it('are refused with a mistyped key, in the words of the real plugin', async () => {
    project.write(
      'settings.yml',
      'plugins:\n  bash_recorder:\n    config:\n      recording: { directry: x, enabled: yes }\n',
    );
    const options = { cwd: project.directory, env: project.env, builtins: REAL, trusted: true };
    const file = project.path('settings.yml');
    const at = 'plugins.bash_recorder.config.recording';
    await expect(loadSettings(options)).rejects.toThrow(
      `${file}:4:20: unknown key 'directry' in ${at}; did you mean 'directory'?\n` +
        `${file}:4:33: ${at}.enabled: expected true or false, found the text 'yes'`,
    );
  });
});
