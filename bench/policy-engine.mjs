// The policy engine as one bundle, so that what is measured is what ships and not how it is loaded.
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const ROOM = fileURLToPath(new URL('../src/policy', import.meta.url));
/** Beside it are the records of programs, which this bundle reads as they are. */
const TABLE = new URL('../src/policy/profiles/table.ts', import.meta.url);

const PARTS = `export { judge } from './decide.ts'; export { readPolicy } from './load.ts';
export { unsaved } from './policy.ts'; export { backtest } from './backtest/index.ts';
export { generatePolicy, policyYaml } from './generate/index.ts';
export { ATTACKS } from './generate/attacks.ts';`;

/** The parser of YAML asks for it. */
const REQUIRE = `import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);`;

/** `dir`: where the bundle goes. */
export async function policyEngine(dir) {
  const outfile = join(dir, 'policy.mjs');
  await build({
    stdin: { contents: PARTS, resolveDir: ROOM },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    banner: { js: REQUIRE },
    define: { 'import.meta.url': JSON.stringify(TABLE.href) },
  });
  return import(pathToFileURL(outfile).href);
}
