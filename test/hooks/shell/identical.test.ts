// A command through the shell that records, in each way that agents call their shell: what the
// agent gets is byte for byte what the bare shell gives it, and there is one entry.
import { afterAll, describe, expect, it } from 'vitest';
import { SHAPES, type Shape, World } from './world.ts';

const world = new World();
afterAll(() => world.close());

/** Stops itself, and is sent the signal when it has stopped. */
const stoppedThen = (signal: string): string =>
  `(until grep -q '^State:.T' /proc/$$/status; do :; done; kill -${signal} $$) & ` +
  'kill -STOP $$; echo on; exit 3';

const COMMANDS = [
  "cat <<'EOF'\nline $x 'q'\nEOF",
  'sleep 0.05 & echo bg; wait',
  'echo data | cat; read x; echo "[$x]"',
  "head -c 3000000 /dev/zero | tr '\\0' x",
  "printf 'a\\0b\\0'",
  "printf '\\xff\\xfe\\n'; printf '\\xc3' >&2",
  'kill -TERM $$',
  'kill -KILL $$',
  stoppedThen('CONT'),
  stoppedThen('KILL'),
  'exec echo replaced',
  'cd /; pwd',
  'exit 300',
  'echo tail \\',
  'for i in $(seq 300); do echo o$i; echo e$i >&2; done',
  `x='it'"'"'s'; echo "$x"`,
  'no-such-command-here',
  'echo "unterminated',
  'env | sort; echo $- $SHELLOPTS; shopt -q login_shell; echo $?',
  'trap "echo trapped" TERM; kill -TERM $$; echo after',
  'set -o pipefail; false | true; echo $?; umask; ulimit -c; trap',
  `bash -c 'echo nested'; sh -c 'echo sh'; echo 'echo script' > s; bash s; "$BASH" -c 'echo again'`,
  "printf 'ümlaut \\U1f600\\n' # ünïcode",
];

describe.each(Object.entries(SHAPES))('%s', (_, shape: Shape) => {
  it('gives what the bare shell gives, and one entry each', async () => {
    const cwd = world.project();
    const seen: unknown[] = [];
    for (const command of COMMANDS) {
      const [bare, ours] = await Promise.all([
        world.call(shape, command, world.project(), true),
        world.call(shape, command, cwd),
      ]);
      expect({ command, ...plain(ours) }).toEqual({ command, ...plain(bare) });
      seen.push(command);
    }
    expect(world.entries(cwd).map(({ command }) => command)).toEqual(seen);
    for (const { source, context_source, wrapper } of world.entries(cwd)) {
      expect({ source, context_source, wrapper }).toEqual({
        source: 'shell',
        context_source: 'environment',
        wrapper: undefined,
      });
    }
  });
});

/** Without the names of the two projects. */
function plain({ code, signal, out, err }: Awaited<ReturnType<World['call']>>) {
  const same = (text: string): string => text.replaceAll(/\/p\d+\b/g, '/p');
  return { code, signal, out: same(out), err: same(err) };
}
