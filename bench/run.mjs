// `npm run bench [-- NAME...] [--quick] [--json]`: one table of how much recording costs, each row
// with its target. Performance is measured here and never asserted: a missed target is printed and
// the exit status stays 0.
import { commandRows } from './command.mjs';
import { dialectRows } from './dialects.mjs';
import { followRows } from './follow.mjs';
import { gateRows } from './gate.mjs';
import { hookRows } from './hook.mjs';
import { manyRunsRows } from './many-runs.mjs';
import { mcpRows } from './mcp.mjs';
import { judge, machine, rounds, summarise, withTempDir } from './measure.mjs';
import { outputRows } from './output.mjs';
import { packedRows } from './packed.mjs';
import { policyRows } from './policy.mjs';
import { readRows } from './read.mjs';
import { readyRows } from './ready.mjs';
import { recordRows } from './record.mjs';
import { sealRows } from './seal.mjs';
import { shellRows } from './shell.mjs';
import { startRows } from './start.mjs';
import { tableOf } from './table.mjs';
import { textRows } from './text.mjs';
import { traceRows } from './trace.mjs';

// Triples the start of every Node program, ours and theirs alike, and so hides what is measured.
delete process.env.NODE_EXTRA_CA_CERTS;

const ROWS = [
  ...startRows,
  ...outputRows,
  ...commandRows,
  ...shellRows,
  ...hookRows,
  ...readRows,
  ...packedRows,
  ...followRows,
  ...mcpRows,
  ...readyRows,
  ...recordRows,
  ...sealRows,
  ...dialectRows,
  ...manyRunsRows,
  ...textRows,
  ...traceRows,
  ...policyRows,
  ...gateRows,
];

const { names, quick, json } = parse(process.argv.slice(2));
const wanted = names.length === 0 ? ROWS : ROWS.filter((row) => names.some(naming(row)));
if (wanted.length === 0) {
  console.error(`No row is called that. There are: ${ROWS.map((row) => row.name).join(', ')}`);
  process.exit(2);
}
const results = [];
for (const row of wanted) {
  console.error(`bench: ${row.name}: ${row.what}`);
  results.push(await measureRow(row));
}
if (json) console.log(JSON.stringify({ machine: machine(), rows: results }, null, 2));
else console.log(tableOf(results));

/** A whole name means that row alone, a part of a name every row it is part of. */
function naming({ name }) {
  return (word) => (ROWS.some((row) => row.name === word) ? name === word : name.includes(word));
}

function parse(words) {
  const flags = words.filter((word) => word.startsWith('--'));
  const unknown = flags.filter((flag) => flag !== '--quick' && flag !== '--json');
  if (unknown.length > 0) {
    console.error(
      `Unknown ${unknown.join(' ')}. usage: npm run bench -- [NAME...] [--quick] [--json]`,
    );
    process.exit(2);
  }
  return {
    names: words.filter((word) => !word.startsWith('--')),
    quick: flags.includes('--quick'),
    json: flags.includes('--json'),
  };
}

/** One that cannot be measured here must not hide the others. */
async function measureRow(row) {
  const { name, what, unit, target } = row;
  try {
    const samples = await withTempDir((dir) => row.measure({ dir, rounds: rounds(quick) }));
    const ours = summarise(samples.ours);
    const baseline = samples.baseline && summarise(samples.baseline);
    return { name, what, unit, target, ours, baseline, ...judge(target, ours, baseline) };
  } catch (error) {
    return { name, what, unit, target, verdict: 'failed', error: String(error?.stack ?? error) };
  }
}
