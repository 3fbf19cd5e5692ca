// Plugins of third parties: files that the settings name, in every form Node can load.
import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHost, type Host } from '../../src/host/host.ts';
import { loadSettings } from '../../src/host/settings.ts';
import { context, services } from './helper.ts';
import { Project } from './settings-helper.ts';

let project: Project;
let host: Host | undefined;
beforeEach(() => {
  project = new Project();
});
afterEach(async () => {
  await host?.close();
  project.close();
});

const BODY = `{
  constructor(config, services) { this.text = config.text + services.projectDirectory; }
  async initialize() {}
  async shutdown() {}
  async healthCheck() { return { healthy: true, reasons: [] }; }
  async onConfigReload(config) { this.text = config.text; }
  getTools() {
    return [{ name: 'say', description: 'says', parameters: { type: 'object' } }];
  }
  async callTool(name) { return { success: true, text: name + this.text }; }
}`;

async function mount(file: string, text = 'x'): Promise<Host> {
  project.write(
    'settings.yml',
    `plugins: { mine: { module: ./${file}, config: { text: ${text} } } }`,
  );
  const settings = await load();
  host = await createHost({ settings, builtins: {}, services: services() });
  return host;
}

const load = () =>
  loadSettings({ cwd: project.directory, env: project.env, builtins: {}, trusted: true });

describe('a module', () => {
  it.each([
    ['an ES module with a default export', 'a.mjs', `export default class ${BODY}`],
    ['an ES module that exports plugin', 'b.mjs', `export class plugin ${BODY}`],
    ['a CommonJS module that is the class', 'c.cjs', `module.exports = class ${BODY}`],
    ['a CommonJS module that exports plugin', 'd.cjs', `exports.plugin = class ${BODY}`],
    [
      'CommonJS made from TypeScript',
      'e.cjs',
      `Object.defineProperty(exports, '__esModule', { value: true });
       exports.default = class ${BODY}`,
    ],
  ])('may be %s', async (_, file, text) => {
    project.write(file, text);
    project.write('settings.yml', '');
    const settings = {
      file: undefined,
      plugins: [
        {
          name: 'mine',
          enabled: true,
          type: 'in_source' as const,
          module: project.path(file),
          config: { text: '-x' },
        },
      ],
    };
    host = await createHost({ settings, builtins: {}, services: services() });
    const answer = { success: true, text: 'say-x/' };
    expect(await host.call('mine_say', {}, context())).toEqual(answer);
  });

  it.each([
    ['throws', 'throw new Error("boom")', 'boom'],
    ['is no JavaScript', 'class {', 'a'],
    ['exports no class', 'export const x = 1;', "it exports no class as 'default' or 'plugin'"],
    ['imports what is not there', "import 'no-such-package';", "Cannot find package 'no-such-pac"],
    ['is no constructor', 'export default () => 1;', 'is not a constructor'],
  ])('that %s is the trouble of its plugin', async (_, text, reason) => {
    project.write('bad.mjs', text);
    await mount('bad.mjs');
    const { plugins } = await (host as Host).health();
    expect(plugins.mine).toMatchObject({ healthy: false, state: 'failed' });
    expect(plugins.mine?.reasons[0]).toContain(reason);
  });

  it('that was repaired is loaded by the next reload', async () => {
    const path = project.write('a.mjs', 'throw new Error("boom")');
    const mounted = await mount('a.mjs');
    expect(mounted.tools()).toEqual([]);
    writeFileSync(path, `export default class ${BODY}`);
    await mounted.reload(await load());
    expect((await mounted.call('mine_say', {}, context())).text).toBe('sayx/');
  });

  it('that changed is constructed anew; one that did not is only told', async () => {
    const path = project.write('a.mjs', `export default class ${BODY}`);
    const mounted = await mount('a.mjs');
    await mount2('y');
    expect((await mounted.call('mine_say', {}, context())).text).toBe('sayy');
    writeFileSync(path, `export default class ${BODY}//`);
    await mount2('y');
    expect((await mounted.call('mine_say', {}, context())).text).toBe('sayy/');

    async function mount2(text: string): Promise<void> {
      const line = `plugins: { mine: { module: ./a.mjs, config: { text: ${text} } } }`;
      project.write('settings.yml', line);
      await mounted.reload(await load());
    }
  });
});
