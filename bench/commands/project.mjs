// The project that the commands of `list.mjs` run in: files of every kind and a git repository,
// the same on every machine.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SAY = fileURLToPath(new URL('../children/say.mjs', import.meta.url));
const COMMITS = 90;

export function makeProject(root) {
  const write = (name, content) => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  };
  mkdirSync(root, { recursive: true });
  copyFileSync(SAY, join(root, 'say.mjs'));
  for (let i = 0; i < 160; i += 1) {
    const note = i % 2 === 0 ? `// LATER(${i}): remove when the new parser is in\n` : '';
    write(`src/module-${i % 16}/part-${i}.ts`, `${note}export const part${i} = ${i};\n`);
  }
  for (const name of packageNames()) write(`node_modules/${name}/package.json`, '{}\n');
  write('src/poem.txt', POEM);
  write('logo.png', PNG);
  write('mostly.log', MOSTLY_TEXT);
  write('server.log', serverLog());
  write('package-lock.json', lockFile());
  write('tool', '#!/bin/sh\necho tool\n');
  write('serve.mjs', SERVER);
  write('.gitignore', 'node_modules\n.cuff\n*.log\n*.pid\n');
  makeHistory(root, write);
}

const POEM =
  '静夜思 — 李白\n床前明月光，疑是地上霜。\nÜber allen Gipfeln ist Ruh’ 🌙👩‍👩‍👧\nשלום עולם\n';

const PNG = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  Buffer.from(Array.from({ length: 6_000 }, (_, i) => (i * 151 + (i >> 3)) % 256)),
]);

/** A log into which a killed writer has put one NUL. */
const MOSTLY_TEXT = `${'worker 3: heartbeat\n'.repeat(3)}\0worker 3: connection reset by peer\n`;

const SERVER = `
import { writeFileSync } from 'node:fs';
writeFileSync('serve.pid', String(process.pid));
setInterval(() => {}, 1_000);
`;

function packageNames() {
  const words = 'array buffer color debug escape fetch glob http'.split(' ');
  const ends = 'core utils stream parse types loader cli js map set is-empty to-string'.split(' ');
  return words.flatMap((word) => ends.map((end) => `${word}-${end}`));
}

function serverLog() {
  const lines = Array.from({ length: 36_000 }, (_, i) => {
    const at = new Date(1_760_000_000_000 + i * 1_370).toISOString();
    return `${at} INFO  request ${i} GET /api/orders/${i % 977} 200 ${i % 61}ms session=${i % 89}`;
  });
  return `${lines.join('\n')}\n`;
}

function lockFile() {
  const packages = Object.fromEntries(
    Array.from({ length: 300 }, (_, i) => [
      `node_modules/package-${i}`,
      { version: `1.${i}.0`, integrity: `sha512-${'abcdefgh'.repeat(8)}${i}==`, dev: i % 3 === 0 },
    ]),
  );
  return `${JSON.stringify({ name: 'app', lockfileVersion: 3, packages }, null, 2)}\n`;
}

function makeHistory(root, write) {
  const git = (args, at = 0) => {
    const date = `${1_750_000_000 + at * 3_600} +0000`;
    const who = { GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.test' };
    const by = { GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.test' };
    const dates = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
    const env = { ...process.env, ...who, ...by, ...dates, GIT_CONFIG_GLOBAL: '/dev/null' };
    execFileSync('git', args, { cwd: root, env, stdio: 'ignore' });
  };
  git(['init', '-q', '-b', 'main']);
  git(['add', '-A']);
  git(['commit', '-qm', 'everything: the project as it was']);
  const body = 'The order of the fields was not kept, so that two exports of one day differed.';
  for (let i = 1; i <= COMMITS; i += 1) {
    write(`src/module-${i % 16}/part-${i}.ts`, `export const part${i} = ${i * 2};\n`);
    git(['commit', '-qam', `module-${i % 16}: part ${i} counts twice\n\n${body}`], i);
  }
  write('src/module-1/part-1.ts', 'export const part1 = 1_000;\nexport const added = true;\n');
  write('src/new.ts', 'export {};\n');
}
