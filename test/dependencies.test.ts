// The dependency check is a gate of CI; here it is shown that it can fail.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const SCRIPT = join(import.meta.dirname, '..', 'scripts', 'check-deps.mjs');

it('the dependency check names ranges, install scripts and holes in the lock', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cuff-deps-'));
  try {
    const dependencies = { loose: '^1.0.0', scripted: '2.0.0' };
    const manifest = { name: 'made', dependencies, scripts: { postinstall: 'true' } };
    const integrity = 'sha512-made';
    const lock = {
      lockfileVersion: 3,
      packages: {
        '': { dependencies: { scripted: '2.0.0' } },
        'node_modules/loose': { version: '1.0.0' },
        'node_modules/scripted': {
          version: '2.0.0',
          integrity,
          hasInstallScript: true,
          optionalDependencies: { '@scripted/linux-x64': '2.0.0', loose: '1.0.0' },
        },
        'node_modules/tool': { version: '3.0.0', integrity, dev: true, hasInstallScript: true },
      },
    };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
    const result = spawnSync(process.execPath, [SCRIPT, folder], { encoding: 'utf8' });
    expect(result.status).toBe(1);
    expect(result.stderr.split('npm ci --dry-run')[0]?.trim().split('\n')).toEqual([
      "loose: '^1.0.0' is not an exact version",
      'package-lock.json: its dependencies are not those of package.json',
      "package.json: has the install script 'postinstall'",
      'node_modules/scripted: a runtime dependency with an install script',
      'node_modules/loose: has no checksum in the lock',
      'node_modules/scripted: needs @scripted/linux-x64, which is not in the lock',
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
