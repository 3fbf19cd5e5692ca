// The table of programs, made when the build is made. `src/policy/profiles/table.ts` makes the same
// of the records at every start; in a bundle this text stands in its place.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

/** What is known of programs, as the text that the source makes of it at every start. */
export async function packedTable(bundle) {
  const entry = join(ROOT, 'src/policy/profiles/records.ts');
  const { outputFiles } = await bundle({ entryPoints: [entry], format: 'esm' });
  const code = Buffer.from(outputFiles[0].contents).toString('base64');
  const { tableOf } = await import(`data:text/javascript;base64,${code}`);
  const directory = join(ROOT, 'src/policy/programs');
  const { parse } = await import('yaml');
  const data = readdirSync(directory).map((name) => {
    return [name, parse(readFileSync(join(directory, name), 'utf8'))];
  });
  const { families, modules, facts, lists } = tableOf(Object.fromEntries(data));
  const parts = `families:[${families.map(packed)}],modules:${packed(modules)}`;
  const listed = Object.entries(lists).map(([name, words]) => {
    return `${JSON.stringify(name)}:()=>${JSON.stringify(words())}`;
  });
  const rest = `lists:{${listed}},facts:()=>${JSON.stringify(facts())}`;
  const contents = `export const TABLE={${parts},${rest}}`;
  const setup = (esbuild) => {
    esbuild.onLoad({ filter: /[\\/]profiles[\\/]table\.ts$/ }, () => ({ contents }));
  };
  return { name: 'packed-table', setup };
}

/** A family whose text is in a function, which V8 compiles when a command asks for it. */
function packed({ names, npx, text }) {
  const whole = JSON.stringify(text());
  return `{names:${JSON.stringify(names)},npx:${npx === true},text:()=>${whole}}`;
}
