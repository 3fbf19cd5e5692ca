// The page of `cuff ui`: dist/web/ from web/ with esbuild. The terminal and the plots are chunks of
// their own, loaded when a page needs them. Nothing in these files names another host.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const OUT = join(ROOT, 'dist/web');
const PAGE = join(ROOT, 'web/index.html');

/** Every file the page is made of, as paths in the repository. */
export function webSources() {
  const entries = readdirSync(join(ROOT, 'web'), { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}

/** What is served, and the files it was made of. */
export async function webFiles(build) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    outdir: OUT,
    entryPoints: { app: 'web/main.tsx', nonce: 'web/nonce.ts' },
    chunkNames: 'part-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome120', 'firefox121', 'safari17'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'none', // licences.txt has them whole
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  const files = outputFiles.map(({ path, contents }) => ({ path, contents }));
  files.push({ path: join(OUT, 'index.html'), contents: readFileSync(PAGE) });
  return { files, inputs: Object.keys(metafile.inputs) };
}
