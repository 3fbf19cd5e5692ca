// docs/trace.md shows real output: every `$ cuff ...` in it is run here. Pids, times and the bars
// that are drawn from them differ each time.
import { mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { TRACE_DEFAULT } from '../../src/limits.ts';
import { lacking } from '../requirements.ts';
import { untraceable } from '../tracing/helper.ts';
import { binary, Cli } from './helper.ts';

const noTracing = lacking(untraceable, 'runs cannot be traced here');

const DOCS = join(import.meta.dirname, '..', '..', 'docs');
const page = readFileSync(join(DOCS, 'trace.md'), 'utf8');
const cli = new Cli();
afterAll(() => cli.close());

function steady(text: string): string {
  return text
    .replace(/^ *\d{2,} /gm, 'P ')
    .replace(/<?\d+(\.\d+)? (ms|s)\b/g, 'T')
    .replace(/(≤ )?\d+(\.\d+)? [KM]iB\b/g, 'M')
    .replace(/█+/g, '█')
    .replace(/ {2,}/g, ' ')
    .replace(/^ /gm, '');
}

/** The stages of a pipeline begin at once, and nobody orders two streams: lines change places. */
function sorted(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/[├└]─ /, ''))
    .sort();
}

type Step = readonly [command: string, output: string];

const steps: readonly Step[] = [...page.matchAll(/^```console\n([\s\S]*?)^```/gm)]
  .flatMap(([, block = '']) => block.split(/^\$ /m).slice(1))
  .map((step) => [step.split('\n')[0] ?? '', step.slice(step.indexOf('\n') + 1)]);

describe('docs/trace.md', () => {
  it.skipIf(noTracing)('prints what it says', async () => {
    expect(steps).toHaveLength(6);
    const project = join(cli.root, 'project');
    mkdirSync(project);
    const pids = new Map<string, string>();
    for (const [command, output] of steps) {
      const typed = command.replace(/--output (\d+)/, (_, pid) => `--output ${pids.get(pid)}`);
      const text = typed.replace(/^cuff/, `exec ${process.execPath} ${binary('cuff')}`);
      const live = cli.start(['bash', '-c', `cd "$0" && ${text}`, project]);
      live.child.stdin?.end();
      const { out, err } = await live.result;
      const placed = (out + err).replaceAll(realpathSync(project), '/srv/project');
      remember(output, placed, pids);
      expect([command, sorted(steady(placed))]).toEqual([command, sorted(steady(output))]);
    }
  });

  it('and the other pages name the default that is in force', () => {
    const settings = readFileSync(join(DOCS, 'settings.md'), 'utf8');
    expect(settings).toContain(`| \`recording.trace\` | \`${TRACE_DEFAULT}\` |`);
    const recorder = readFileSync(join(DOCS, 'recorder.md'), 'utf8');
    expect(recorder).toMatch(new RegExp(`^  trace: ${TRACE_DEFAULT} +# `, 'm'));
  });
});

/** Which pid here is which pid there: those of the same command. */
function remember(shown: string, real: string, pids: Map<string, string>): void {
  const rows = (text: string): [string, string][] =>
    [...text.matchAll(/^ *(\d{2,}) .*?((?:sh|sort|wc) .*?)(?: {2}.*)?$/gm)].map(
      ([, pid = '', command = '']) => [command, pid],
    );
  const found = new Map(rows(real));
  for (const [command, pid] of rows(shown)) {
    const own = found.get(command);
    if (own !== undefined) pids.set(pid, own);
  }
}
