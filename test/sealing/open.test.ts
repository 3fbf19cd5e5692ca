// Who may turn the ledger off: the user, in settings of their own.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sealWanted, turnsOff } from '../../src/sealing/open.ts';
import { plain, readYaml } from '../../src/text/yaml.ts';
import { SealWorld } from './helper.ts';

function places() {
  const { dir } = new SealWorld();
  const [project, home] = [join(dir, 'project'), join(dir, 'home')];
  fs.mkdirSync(join(project, '.cuff'), { recursive: true });
  fs.mkdirSync(join(home, '.config', 'cuff'), { recursive: true });
  return { project, home, env: { HOME: home } };
}

describe('seal.enabled: false', () => {
  it("turns the ledger off in the user's settings", () => {
    const { project, home, env } = places();
    expect(sealWanted(project, env)).toBe(true);
    fs.writeFileSync(join(home, '.config/cuff/settings.yml'), 'seal:\n  enabled: false\n');
    expect(sealWanted(project, env)).toBe(false);
    const named = join(home, 'other.yml');
    fs.writeFileSync(named, 'seal: { enabled: false }\n');
    expect(sealWanted(project, { HOME: '/nowhere', CUFF_SETTINGS: named })).toBe(false);
  });

  it('turns nothing off in a project, also where a variable names its file', () => {
    const { project, env } = places();
    for (const file of ['settings.yml', '.cuff/settings.yml']) {
      fs.writeFileSync(join(project, file), 'seal:\n  enabled: false\n');
      expect(sealWanted(project, env)).toBe(true);
      expect(sealWanted(project, { ...env, CUFF_SETTINGS: join(project, file) })).toBe(true);
    }
  });

  it('is read as YAML says, in the ways a person writes it', () => {
    const yes = [
      'seal:\n  enabled: false',
      'seal: {enabled: false}',
      'seal: # x\n\n  # y\n    enabled: false # z',
      'seal:\n  anchor:\n    - journal\n    - file /a\n  enabled: false',
      'seal:\n  anchor: [journal]\n  enabled: false',
      'seal:\n  enabled: false\n  anchor: []',
    ];
    const no = [
      '',
      'seal:\n  enabled: true',
      'seal:',
      'seal: {}',
      'seal:\n  anchor: [journal]\nother:\n  enabled: false',
      '# seal:\n#  enabled: false',
      'plugins:\n  seal:\n    enabled: false',
      'seal:\nplugins:\n  x:\n    enabled: false',
      'sealed:\n  enabled: false',
    ];
    for (const text of [...yes, ...no]) {
      const { root } = readYaml(`${text}\n`, {});
      const value = root === undefined ? {} : (plain(root) as { seal?: { enabled?: unknown } });
      expect([text, turnsOff(`${text}\n`)]).toEqual([text, value?.seal?.enabled === false]);
    }
    expect(yes.every(turnsOff)).toBe(true);
  });
});
