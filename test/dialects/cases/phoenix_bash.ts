// The golden answers of `phoenix_bash`.
import * as fs from 'node:fs';
import { PhoenixBashPlugin } from '../../../src/dialects/phoenix_bash/dialect.ts';
import { until } from '../../cli/helper.ts';
import { ALWAYS, type GoldenCase, type GoldenDialect, type Stage } from '../golden.ts';
import { newWorld } from '../phoenix_bash/helper.ts';

function command(golden: string, text: string): GoldenCase {
  return { steps: [{ tool: 'bash', args: { command: text }, golden }] };
}

/** What is in the file of a background process, once it has these words. */
const file =
  (words: string) =>
  async (stage: Stage): Promise<string> => {
    const path = stage.found(/<output_file>(.*)<\/output_file>/);
    const printed = () => fs.readFileSync(path, 'utf8');
    await until(() => printed().includes(words), `${words} in the file`);
    return printed();
  };

const inBackground = (text: string) => ({ command: text, background: true });
const SERVER = 'echo "listening on :3000"';
const WAIT = 'until test -e go; do sleep 0.01; done';

export const phoenixBash: GoldenDialect = {
  name: 'phoenix_bash',
  plugin: PhoenixBashPlugin,
  world: newWorld,
  masked: [
    [/<pid>\d+/g, '<pid>1234'],
    [/phoenix-\w{6}/g, 'phoenix-XXXXXX'],
    [/x{4096}/g, '(4096 times x)'],
    ...ALWAYS,
  ],
  cases: [
    command('ok', 'echo building; echo "warning: slow" >&2; echo done'),
    command('failure', 'echo "3 tests, 1 failed"; echo "AssertionError: 1 != 2" >&2; exit 1'),
    command('signal', 'echo before; kill -SEGV $$'),
    command('empty', 'true'),
    command('binary', `printf '\\x7fELF\\x02\\x01\\x01\\0\\0\\0\\xff\\xfe\\n'`),
    command('huge', 'seq -f "line %.0f of the log" 1000000'),
    command('long-line', `head -c 10485760 /dev/zero | tr '\\0' x`),
    command(
      'split-utf8',
      `printf 'a\\xe2'; sleep 0.05; printf '\\x82'; sleep 0.05; printf '\\xacb\\n'`,
    ),
    command(
      'ansi',
      `printf '\\e[1;31merror\\e[0m: \\e]8;;http://x\\e\\\\link\\e]8;;\\e\\\\ \\x9b1mbold\\n'`,
    ),
    command('progress-bar', `for i in 10 50 100; do printf '\\r%3d%%' $i; done; echo`),
    command('dangerous', 'exit; rm -rf /'),
    {
      config: (ms) => ({ timeout_seconds: ms / 1000 }),
      steps: [
        {
          tool: 'bash',
          args: { command: 'echo "Compiling cuff v0.1.0"; sleep 100' },
          printed: /cuff v0/,
          golden: 'timeout',
        },
      ],
    },
    {
      steps: [
        {
          tool: 'bash',
          args: inBackground(`${SERVER}; ${WAIT}; echo bye >&2`),
          golden: 'background',
        },
        { text: file('3000\n'), golden: 'still-running' },
        { after: (stage) => stage.write('go') },
        { text: file('[background'), golden: 'finished-later' },
      ],
    },
    {
      steps: [
        { tool: 'bash', args: inBackground(`${SERVER}; sleep 100`) },
        { text: file('3000\n') },
        { tool: 'bash', args: (stage) => ({ command: `kill -9 -${stage.found(/<pid>(\d+)/)}` }) },
        { text: file('[background'), golden: 'killed' },
      ],
    },
    {
      config: { env_overrides: { BIG: 'x'.repeat(200_000) } },
      steps: [{ tool: 'bash', args: { command: 'true' }, golden: 'spawn-error' }],
    },
    {
      steps: [
        { tool: 'bash', args: { command: 'true', slow_ok: 'yes' }, golden: 'bad-arguments' },
        {
          // A server makes its journal's directory when it has looked for what others left.
          after: async ({ world }) => {
            await until(() => fs.existsSync(world.journal), 'the directory of the journal');
            fs.rmSync(world.project, { recursive: true });
          },
        },
        { tool: 'bash', args: { command: 'true' }, golden: 'no-directory' },
      ],
    },
  ],
};
