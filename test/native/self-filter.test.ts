// A run whose command installs a seccomp filter with an instruction of its own: its start and its
// end are known, and readers are told why nothing else is.
import { afterAll, describe, expect, it } from 'vitest';
import { Cli } from '../cli/helper.ts';
import { gateWith, judged } from '../guard/gate-helper.ts';
import { lacking } from '../requirements.ts';
import { untraceable } from '../tracing/helper.ts';
import { program } from './shim/streams-helper.ts';

const noTrace = lacking(untraceable, 'runs cannot be traced here');
const cli = new Cli();
afterAll(() => cli.close());

describe.skipIf(noTrace)('a command that installs a filter by itself', () => {
  it.each(['--no-tty', '--tty'])('ends as it would, and its trace says why (%s)', async (tty) => {
    const jail = program('jail', 'cc -O0', 'self-filter.c');
    const id = `jail${tty}`;
    const run = await cli.cuff('run', tty, '--trace', '--session-id', id, '--', jail, 'files');
    const lines = ['before', 'child', 'through a pipe', 'the child ended with 5'];
    expect([run.code, run.out.split(/\r?\n/).slice(0, -1)]).toEqual([4, lines]);
    const told = JSON.parse((await cli.cuff('trace', id, '--json')).out);
    const [first] = told.processes;
    expect(first).toMatchObject({ exit_code: 4, images: [{ argv: [jail, 'files'] }] });
    expect(told.untraced).toContainEqual({
      reason: 'installs_seccomp_filter',
      pid: first.pid,
      exe: jail,
    });
    const { out, err } = await cli.cuff('trace', id);
    expect(out + err).toContain(
      'Of 1 program that installs a seccomp filter by itself, only the start is known.\n',
    );
  });

  it.each([true, false])('what it starts is judged where all is (strict: %s)', async (strict) => {
    const jail = program('jail', 'cc -O0', 'self-filter.c');
    const asked: string[] = [];
    const gate = await gateWith(
      ({ argv }) => {
        asked.push(argv.join(' '));
        return { allow: true };
      },
      { strict },
    );
    const text = `exec ${jail} idle /bin/echo hello`;
    const { code, output } = await judged(text, { gate: { path: gate.path, strict } });
    expect([code, output]).toEqual([0, 'before\nhello\n']);
    expect(asked).toContain(`${jail} idle /bin/echo hello`);
    expect(asked.includes('/bin/echo hello')).toBe(strict);
  });
});
