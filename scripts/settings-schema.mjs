// Writes docs/settings.schema.json from the sources: what editors check a settings file with.
// A test fails while the file is not what this writes.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const REQUIRE = `made(${JSON.stringify(join(ROOT, 'package.json'))})`;
const OUT = join(ROOT, 'docs', 'settings.schema.json');
const folder = mkdtempSync(join(tmpdir(), 'cuff-schema-'));
try {
  const outfile = join(folder, 'schema.mjs');
  await build({
    stdin: {
      contents: `export { settingsSchema } from './src/host/settings.ts';
        export { BUILTINS } from './src/dialects/builtins.ts';`,
      resolveDir: ROOT,
    },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['@lydell/node-pty', 'libsql'],
    banner: {
      js: `import { createRequire as made } from 'node:module';const require = ${REQUIRE};`,
    },
    logLevel: 'warning',
  });
  const { settingsSchema, BUILTINS } = await import(pathToFileURL(outfile).href);
  writeFileSync(OUT, `${JSON.stringify(settingsSchema(BUILTINS), null, 2)}\n`);
  const biome = join(ROOT, 'node_modules/@biomejs/biome/bin/biome');
  spawnSync(process.execPath, [biome, 'format', '--write', OUT], { cwd: ROOT, stdio: 'inherit' });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
