// Reading, waiting, killing, listing and searching in the native dialect.
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { conversation } from '../../recorder/helper.ts';
import { alive, BECOME, becomes } from '../hard-cases.ts';
import { Native, steady } from './helper.ts';

/** A command that goes on until the file is there. */
function gate(native: Native, name: string): { readonly wait: string; readonly open: () => void } {
  const file = join(native.world.project, name);
  return {
    wait: `until [ -e ${file} ]; do sleep 0.02; done`,
    open: () => writeFileSync(file, ''),
  };
}

describe('shell_read', () => {
  it('reads any part of the output, and names the call for the next', async () => {
    const native = await Native.open();
    const { id } = await native.run('seq 100; echo e >&2', { max_bytes: 10 });
    const read = async (args: object): Promise<string> =>
      steady((await native.call('shell_read', { id, ...args })).text);
    const stderr = '[stderr has 1 line, 2 bytes: shell_read {"id":"1a2b3c4d","stream":"stderr"}]';
    expect(await read({ from_line: 5, lines: 2 })).toBe(
      '5\n6\n[stdout lines 5-6 of 100, 292 bytes; ' +
        `next: shell_read {"id":"1a2b3c4d","from_line":7,"lines":2}]\n${stderr}`,
    );
    expect(await read({ tail: 2 })).toBe(
      `99\n100\n[stdout lines 99-100 of 100, 292 bytes]\n${stderr}`,
    );
    expect(await read({ from_byte: 288 })).toBe(
      `100\n[stdout line 100 of 100, 292 bytes]\n${stderr}`,
    );
    expect(await read({ stream: 'stderr' })).toBe('e\n[stderr line 1 of 1, 2 bytes]');
    expect(await read({ grep: '9' })).toMatch(/^9: 9\n19: 19\n.*\n99: 99\n\[19 matching lines\]$/s);
    expect(await read({ grep: '^.0$', regex: true, lines: 2 })).toBe(
      '10: 10\n20: 20\n[at least 2 matching lines]',
    );
    expect(await read({ from_line: 200 })).toBe(
      `(nothing there)\n[stdout has no line 200: 100 lines, 292 bytes]\n${stderr}`,
    );
  });

  it('takes one place to start from', async () => {
    const native = await Native.open();
    const { id } = await native.run('echo; sleep 60', { wait_ms: 0 });
    const said = await native.call('shell_read', { id, from_line: 1, tail: 2 });
    expect(said).toMatchObject({ success: false, text: 'Give from_line or tail, not both.' });
  });

  it('says that output is no longer kept, and lists and searches the others', async () => {
    const native = await Native.open();
    await native.run('echo here');
    const { id } = await native.run('seq 9', { max_bytes: 0 });
    rmSync(native.world.shell.list()[0]?.dir ?? '', { recursive: true });
    const said = await native.call('shell_read', { id });
    const text = 'The output of this run is no longer kept.';
    expect(said).toMatchObject({ success: false, text });
    expect((await native.call('shell_list', { all: true })).trailer).toEqual(['1 run']);
    const found = await native.call('shell_search', { pattern: 'here' });
    expect(found.trailer).toEqual(['1 match; 1 of 1 run searched']);
  });

  it('reads runs of a server that is gone', async () => {
    const native = await Native.open();
    const about = conversation('c');
    const { id } = await native.run('seq 3; exit 1', { max_bytes: 0 }, about);
    await native.world.stop(native.plugin);
    const next = await Native.open({}, native.world);
    expect((await next.call('shell_read', { id }, about)).body).toBe('1\n2\n3\n');
    const list = await next.call('shell_list', { all: true }, about);
    expect(steady(list.text)).toMatch(/^[0-9a-f]{8} exit 1, 0 m?s ago: seq 3; exit 1\n/);
    const found = await next.call('shell_search', { pattern: '2' }, about);
    expect(found.trailer).toEqual(['1 match; 1 of 1 run searched']);
  });
});

describe('shell_wait', () => {
  it('gives only what is new, and all of it', async () => {
    const native = await Native.open();
    const [first, second] = [gate(native, 'first'), gate(native, 'second')];
    const start = `printf 'a\\nb'; ${first.wait}; printf 'c\\nd\\n'`;
    const command = `${start}; ${second.wait}; echo e; exit 4`;
    const started = await native.run(command, { wait_ms: 0 });
    const { id } = started;
    let told = started.text.startsWith('(no output)') ? '' : 'a\nb';
    if (told === '') {
      const said = await native.call('shell_wait', { id, for: 'b' });
      expect(said.body).toBe('a\nb\n');
      told = 'a\nb';
    }
    first.open();
    const middle = await native.call('shell_wait', { id, for: 'd' });
    expect(middle.body).toBe('c\nd\n');
    expect(middle.trailer[0]).toBe('found: d');
    second.open();
    const last = await native.call('shell_wait', { id });
    expect(last).toMatchObject({ success: true, body: 'e\n' });
    expect(last.trailer[0]).toMatch(/^exit 4, .*; 4 lines, 9 bytes$/);
    const again = await native.call('shell_wait', { id });
    expect(again.body).toBe('(no new output)\n');
  });

  it('waits for a regular expression, in the unfinished line, too', async () => {
    const native = await Native.open();
    const { id } = await native.run('sleep 0.1; printf "port 80"; sleep 60', { wait_ms: 0 });
    const said = await native.call('shell_wait', { id, for: 'port \\d+$', regex: true });
    expect(said.body).toBe('port 80\n');
    expect(said.trailer[0]).toBe('found: port \\d+$');
    await native.call('shell_kill', { id });
  });

  it('says what did not come', async () => {
    const native = await Native.open();
    const { id } = await native.run('echo ready; sleep 60', { wait_ms: 0 });
    const said = await native.call('shell_wait', { id, for: 'never', wait_ms: 100 });
    expect(said.trailer[0]).toBe('not found in 100 ms in new output: never');
    await native.call('shell_kill', { id });
    const over = await native.call('shell_wait', { id, for: 'never' });
    expect(over.trailer[0]).toBe('not found in new output: never');
  });

  it('waits for what a finished shell left behind', async () => {
    const native = await Native.open();
    const { open, wait } = gate(native, 'go');
    const said = await native.run(`(${wait}; echo late) & echo now`);
    expect(said.body).toBe('now\n');
    expect(said.trailer[1]).toMatch(/^still alive: pid \d+ .* \(holds the output\)/);
    const waiting = native.call('shell_wait', { id: said.id });
    open();
    const end = await waiting;
    expect(end.body).toBe('late\n');
    expect(end.trailer).toHaveLength(1);
  });

  it('does not end the run of a caller who gives up', async () => {
    const native = await Native.open();
    const { id } = await native.run('sleep 60', { wait_ms: 0 });
    const controller = new AbortController();
    const waits = [{ id }, { id, for: 'x' }].map((args) =>
      native.call('shell_wait', args, { signal: controller.signal }),
    );
    controller.abort();
    for (const said of await Promise.all(waits)) {
      expect(said.text).toContain('still running');
    }
    await native.call('shell_kill', { id });
  });

  it('waits for a run that an earlier server left', async () => {
    const native = await Native.open({ on_shutdown: 'leave' });
    const about = conversation('c');
    const { wait, open } = gate(native, 'go');
    const { id } = await native.run(`echo a; ${wait}; echo b`, { wait_ms: 0 }, about);
    await native.world.stop(native.plugin);
    const next = await Native.open({}, native.world);
    expect((await next.call('shell_wait', { id, for: 'a' }, about)).body).toBe('a\n');
    open();
    const end = await next.call('shell_wait', { id }, about);
    expect(end).toMatchObject({ success: true, body: 'b\n' });
  });
});

describe('shell_kill', () => {
  it('ends everything and says who died', async () => {
    const native = await Native.open();
    const { id } = await native.run('setsid sleep 61 & sleep 62', { wait_ms: 300 });
    await becomes(native.world, 'sleep 61');
    await becomes(native.world, 'sleep 62');
    const said = await native.call('shell_kill', { id });
    expect(said.success).toBe(true);
    expect(said.trailer[0]).toMatch(
      /^killed pid \d+ bash -c .*pid \d+ sleep 6[12], pid \d+ sleep 6[12]$/,
    );
    expect(said.trailer[1]).toMatch(/^died of SIGTERM, killed by shell_kill, /);
    const again = await native.call('shell_kill', { id });
    expect(again.trailer[0]).toBe('nothing was killed: no process of it was alive');
  });

  it('ends what a finished shell left behind', async () => {
    const native = await Native.open();
    const said = await native.run(`trap "" TERM; setsid sleep 60 & ${BECOME}; echo $!`);
    const pid = Number(said.body);
    expect(alive(pid)).toBe(true);
    const killed = await native.call('shell_kill', { id: said.id, signal: 'KILL' });
    expect(killed.trailer[0]).toBe(`killed pid ${pid} sleep 60`);
    expect(killed.trailer[1]).toMatch(/^exit 0, /);
    expect(alive(pid)).toBe(false);
  });

  it('ends a run that an earlier server left', async () => {
    const native = await Native.open({ on_shutdown: 'leave' });
    const about = conversation('c');
    const { id } = await native.run('sleep 60', { wait_ms: 0 }, about);
    await becomes(native.world, 'sleep 60');
    await native.world.stop(native.plugin);
    const next = await Native.open({}, native.world);
    const said = await next.call('shell_kill', { id }, about);
    expect(said.trailer[0]).toMatch(/^killed pid \d+ sleep 60$/);
  });
});

describe('shell_list', () => {
  it('has what is alive, newest first, and with all what is over', async () => {
    const native = await Native.open();
    await native.run('echo over');
    const { id } = await native.run('echo left; sleep 60 &');
    await becomes(native.world, 'sleep 60');
    const live = await native.run('echo live; sleep 61', { wait_ms: 0 });
    await native.call('shell_wait', { id: live.id, for: 'live' });
    const list = await native.call('shell_list');
    expect(
      steady(list.text)
        .replace(/^[0-9a-f]{8}/gm, 'RUN')
        .replaceAll('0 ms', '0 s'),
    ).toBe(
      'RUN running, pid 1, 0 s ago: echo live; sleep 61\n  last line: live\n' +
        'RUN exit 0, 0 s ago: echo left; sleep 60 &\n' +
        '  still alive: pid 1 sleep 60 (holds the output)\n  last line: left\n[2 runs alive]',
    );
    expect((await native.call('shell_list', { all: true })).trailer).toEqual(['3 runs']);
    await native.call('shell_kill', { id });
    expect((await native.call('shell_list')).trailer).toEqual(['1 run alive']);
    const other = await native.call('shell_list', { all: true }, { connection: 'B' });
    expect(other.text).toBe('[no runs]');
  });
});

describe('shell_search', () => {
  it('finds text and regular expressions in all runs, newest first', async () => {
    const native = await Native.open();
    await native.run('echo one apple; echo two; echo three apples');
    await native.run('echo Apple pie >&2; exit 2');
    const search = async (args: Readonly<Record<string, unknown>>): Promise<string> =>
      steady((await native.call('shell_search', args)).text)
        .replace(/^[0-9a-f]{8}/gm, 'RUN')
        .replaceAll('0 ms', '0 s');
    expect(await search({ pattern: 'apple', context: 1 })).toBe(
      'RUN exit 0, 0 s ago: echo one apple; echo two; echo three apples\n' +
        '1: one apple\n2- two\n3: three apples\n[2 matches; 2 of 2 runs searched]',
    );
    expect(await search({ pattern: '^[Aa]pp', regex: true })).toBe(
      'RUN exit 2, 0 s ago: echo Apple pie >&2; exit 2\nstderr 1: Apple pie\n' +
        '[1 match; 2 of 2 runs searched]',
    );
    expect(await search({ pattern: 'APPLE', ignore_case: true, limit: 1 })).toMatch(
      /\n\[1 match; 0 of 2 runs searched; stopped because the limit was reached\]$/,
    );
    expect(await search({ pattern: 'nothing of the kind' })).toBe(
      '[0 matches; 2 of 2 runs searched]',
    );
  });

  it('says what is wrong with a pattern, and is not hung by one', async () => {
    const native = await Native.open();
    await native.run(`echo ${'a'.repeat(50)}!`);
    const search = (pattern: string) => native.call('shell_search', { pattern, regex: true });
    expect((await search('(')).text).toBe('Invalid regular expression: /(/u: Unterminated group.');
    expect((await search('^(a+)+$')).text).toBe(
      'The regular expression takes too long on some line: simplify it.',
    );
    expect((await search('^a+!$')).trailer[0]).toMatch(/^1 match; /);
    expect((await native.call('shell_search', { pattern: '' })).success).toBe(false);
  });
});

describe('another conversation', () => {
  it('finds, reads and kills nothing of this one', async () => {
    const native = await Native.open();
    const about = conversation('mine');
    const { id } = await native.run('echo secret; sleep 60', { wait_ms: 200 }, about);
    const full = native.world.shell.list()[0]?.id ?? '';
    for (const other of [conversation('yours'), { connection: 'B' }, {}]) {
      for (const name of [id, full]) {
        for (const tool of ['shell_read', 'shell_wait', 'shell_kill']) {
          const said = await native.call(tool, { id: name }, other);
          expect(said).toMatchObject({ success: false });
          expect(said.text).toBe(
            `This conversation has no run '${name}'; shell_list {"all":true} lists those it has.`,
          );
        }
      }
      const found = await native.call('shell_search', { pattern: 'secret' }, other);
      expect(found.text).toBe('[0 matches; 0 of 0 runs searched]');
    }
    expect((await native.call('shell_kill', { id }, about)).success).toBe(true);
  });
});

it('leaves nothing in the state root that was for one run', async () => {
  const native = await Native.open({ recording: { trace: 'off' } });
  await native.run('false | true');
  await native.world.stop(native.plugin);
  expect(readdirSync(join(native.world.stateRoot, 'stages'))).toEqual([]);
});
