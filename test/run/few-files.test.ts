// With few descriptors a command runs, or one sentence says why not; there is never a stack trace.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { binary, Cli } from '../cli/helper.ts';
import { lacking } from '../requirements.ts';

const cli = new Cli();
afterAll(() => cli.close());

const LIMITS = [19, 20, 21, 22, 23, 24, 28, 32, 40, 48, 56, 64, 128];
const noLimit = lacking(process.platform === 'win32', 'there is no `ulimit -n` on Windows');

type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

function limited(files: number, words: readonly string[], input = ''): Ended {
  const script = `ulimit -n ${files}; exec "$@"`;
  const args = ['-c', script, 'sh', process.execPath, ...words];
  const env = { ...cli.env, XDG_CONFIG_HOME: join(cli.root, 'config') };
  const { status, stdout, stderr } = spawnSync('sh', args, {
    env,
    input,
    encoding: 'utf8',
    cwd: cli.root,
  });
  return { code: status, out: stdout, err: stderr };
}

/** Node itself needs some, how many depends on its version: with fewer none of ours is loaded. */
function enoughForNode(files: number): boolean {
  const load = `require('node:fs').readFileSync(${JSON.stringify(binary('cuff'))})`;
  return limited(files, ['-e', load]).code === 0;
}

const FEW = /^cuff: .*too many open files \(EMFILE\); raise `ulimit -n`\.?\n$/;

describe.skipIf(noLimit)('with few descriptors', () => {
  it('`cuff run` runs the command or says one sentence', () => {
    const outcomes = LIMITS.filter(enoughForNode).map((files) => {
      const { code, out, err } = limited(files, [binary('cuff'), 'run', '--', 'echo', 'hi']);
      if (code === 0) expect([out, err]).toEqual(['hi\n', '']);
      else expect([code, out, err]).toEqual([126, '', expect.stringMatching(FEW)]);
      return code;
    });
    expect(outcomes).toContain(126);
    expect(outcomes.at(-1)).toBe(0);
  });

  it('`cuff mcp` serves or says one sentence', () => {
    const hello = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'few', version: '1' },
      },
    };
    const outcomes = LIMITS.filter(enoughForNode).map((files) => {
      const input = `${JSON.stringify(hello)}\n`;
      const { code, out, err } = limited(files, [binary('cuff'), 'mcp'], input);
      // `initialize` is answered before the server is loaded, which may then lack descriptors.
      const [answer = ''] = out.split('\n');
      if (code === 0 || answer !== '') expect(JSON.parse(answer)).toHaveProperty('result');
      if (code !== 0) expect([code, err]).toEqual([1, expect.stringMatching(FEW)]);
      return code;
    });
    expect(outcomes).toContain(1);
    expect(outcomes.at(-1)).toBe(0);
  });
});
