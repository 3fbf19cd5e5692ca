// Searches an open catalog of a large journal, as a running server does, for words and pairs of
// words that stand in it, and prints the 95th percentile of each round.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SEARCHES = 100;

const { directory, module, rounds } = JSON.parse(process.argv[2]);
const { openCatalog } = await import(module);
const catalog = await openCatalog(directory, { now: Date.now });
if (!catalog.refresh().done || catalog.kind === 'scan') throw new Error('there is no catalog');
const folder = join(directory, 'sessions');
const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
let seed = 7;
const ours = [];
for (let round = -1; round < rounds; round += 1) {
  const times = Array.from({ length: SEARCHES }, () => search(somewhere()));
  times.sort((a, b) => a - b);
  if (round >= 0) ours.push(times[Math.floor(SEARCHES * 0.95) - 1]);
}
console.log(JSON.stringify({ ours }));
catalog.close();

function search(text) {
  const start = performance.now();
  const hits = catalog.search({ text, limit: 20 });
  const ms = performance.now() - start;
  if (hits.length === 0) throw new Error(`'${text}' was not found`);
  return ms;
}

/** One to three words of some output, or of a command that printed nothing. */
function somewhere() {
  const lines = readFileSync(join(folder, files[random(files.length)]), 'utf8').split('\n');
  const { command, stdout } = JSON.parse(lines[random(lines.length - 1)]);
  const text = stdout === '' ? command : stdout.split('\n')[0];
  const words = [...text.matchAll(/\S+/g)];
  const first = random(words.length);
  const last = words[Math.min(first + random(3), words.length - 1)];
  return text.slice(words[first].index, last.index + last[0].length);
}

function random(count) {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  return (seed >> 8) % count;
}
