// `cuff play` in a real terminal: what was printed, when, by its keys; and a terminal that is as it
// was, however the player ends. The runs are imported, so that their times are known.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lacking } from '../requirements.ts';
import { Terminal, tmuxMissing } from '../shell/tmux.ts';
import { binary, Cli } from './helper.ts';

const noTmux = lacking(tmuxMissing(), 'there is no tmux here');

const cli = new Cli();
afterAll(() => cli.close());

type Event = readonly [seconds: number, code: 'o' | 'r', data: string];

const HOUR = 3600;

// Hours lie between the outputs, so that only keys make them appear.
const EVENTS: readonly Event[] = [
  [0, 'o', 'first \x1b[31mred\x1b[0m\r\n'],
  [HOUR, 'o', 'second\r\n\x1b]0;EVIL\x07\x1b[6n\x1b[?1000h'],
  [2 * HOUR, 'o', '\x1b[?1049h\x1b[3;5Hfull\x1b[1;1Hscreen'],
  [3 * HOUR, 'o', '\x1b[?1049l'],
  [4 * HOUR, 'o', 'last ä\r\n'],
];

async function imported(name: string, cols: number, rows: number): Promise<string> {
  const header = { version: 2, width: cols, height: rows, timestamp: 1_700_000_000 };
  const file = join(cli.root, `${name}.cast`);
  writeFileSync(file, [header, ...EVENTS].map((line) => `${JSON.stringify(line)}\n`).join(''));
  const { out, err } = await cli.cuff('record', 'import', file);
  const [id] = /cast-[0-9a-f]+/.exec(out + err) ?? [];
  if (id === undefined) throw new Error(`no id in ${out}${err}`);
  return id;
}

const played = (id: string, words = ''): string =>
  `CUFF_STATE_ROOT='${cli.root}' ${process.execPath} ${binary('cuff')} play ${id} ${words}`;

const body = (screen: string): string => screen.split('\n').slice(0, -1).join('\n').trimEnd();

describe.skipIf(noTmux)('cuff play', () => {
  let small: string;
  let large: string;
  let terminal: Terminal;
  beforeAll(async () => {
    small = await imported('small', 60, 20);
    large = await imported('large', 150, 60);
    terminal = new Terminal(100, 30);
  });
  afterAll(() => terminal.close());

  const quits = async (key = 'q'): Promise<string> => {
    terminal.press(key);
    return terminal.shows(/code \d+$|code \d+\n\$$/m);
  };

  it('shows what had been printed, with its colours, step by step and back', async () => {
    terminal.type(`clear; ${played(small)}; echo code $?`);
    await terminal.shows(/playing .*1x/);
    expect(await terminal.shows(/first/, true)).toMatch(/\x1b\[31mred/);
    terminal.press('.');
    expect(body(await terminal.shows(/paused +1:00:00\.0 \/ 4:00:00\.0/))).toBe(
      'first red\nsecond',
    );
    terminal.press('.');
    expect(body(await terminal.shows(/paused +2:00:00/))).toBe('screen\n\n    full');
    terminal.press('.', '.');
    expect(body(await terminal.shows(/end +4:00:00/))).toBe('last ä');
    terminal.press(',', ',', ',');
    expect(body(await terminal.shows(/paused +1:00:00/))).toBe('first red\nsecond');
    expect(await quits()).toContain('code 0');
  });

  it('goes to a tenth of the run, and on at the speed that is asked for', async () => {
    terminal.type(`clear; ${played(small, '--speed 4')}; echo code $?`);
    await terminal.shows(/playing .* 4x/);
    terminal.press('>', '>', '>');
    await terminal.shows(/playing .* 16x/);
    terminal.press('<', '6');
    expect(body(await terminal.shows(/playing +2:24:.* 8x/))).toBe('screen\n\n    full');
    terminal.press('Space');
    await terminal.shows(/paused +2:24:/);
    // Keys that send sequences have digits in them, and are no keys of the player.
    terminal.press('Up', 'F5', 'Delete', '0');
    expect(body(await terminal.shows(/paused +0:00:00\.0|paused +0:00\.0/))).toBe('first red');
    expect(await quits('C-c')).toContain('code 0');
  });

  it('shortens pauses, and stands at the end', async () => {
    terminal.type(`clear; ${played(small, '--idle 10ms')}; echo code $?`);
    expect(body(await terminal.shows(/end +4:00:00\.0/))).toBe('last ä');
    terminal.press('0', '.');
    expect(body(await terminal.shows(/paused +1:00:00/))).toBe('first red\nsecond');
    expect(await quits()).toContain('code 0');
  });

  it('says that the terminal is smaller, follows its size, and changes nothing else', async () => {
    terminal.type(`clear; ${played(large)}; echo code $?`);
    await terminal.shows(/recorded at 150x60, this terminal is smaller/);
    terminal.press('.');
    await terminal.shows(/paused/);
    terminal.resize(160, 70);
    const screen = await terminal.shows(/paused +1:00:00\.0 \/ 4:00:00\.0 {2}1x {2}space/);
    expect(body(screen)).toBe('first red\nsecond');
    const facts = terminal.facts('#{pane_title}|#{mouse_any_flag}|#{alternate_on}');
    expect(facts).toMatch(/^(?!EVIL).*\|0\|1$/);
    expect(await quits()).toContain('code 0');
    expect(terminal.facts('#{alternate_on}|#{cursor_flag}|#{mouse_any_flag}')).toBe('0|1|0');
    terminal.resize(100, 30);
  });

  it.each(['TERM', 'INT', 'HUP'])('gives the terminal back when SIG%s ends it', async (signal) => {
    terminal.type(`clear; sh -c 'echo $$ >"$0"; exec "$@"' '${cli.root}/pid' env ${played(small)}`);
    await terminal.shows(/playing/);
    const before = terminal.facts('#{alternate_on}');
    execFileSync('sh', ['-c', `kill -${signal} $(cat '${cli.root}/pid')`]);
    await terminal.shows(/\$$/);
    const screen = await terminal.run('stty -a | grep -ow -e -icanon -e icanon; echo code');
    expect(screen).toBe('icanon\ncode');
    expect([before, terminal.facts('#{alternate_on}|#{cursor_flag}')]).toEqual(['1', '0|1']);
  });

  it('needs a terminal, a run that printed something, and words that it knows', async () => {
    const { code, out, err } = await cli.cuff('play', small);
    expect([code, out, err]).toEqual([
      2,
      '',
      expect.stringContaining('A run is played in a terminal, and this is none.'),
    ]);
    for (const words of ['--speed 0', '--speed 99', '--idle soon']) {
      const wrong = await cli.cuff('play', small, ...words.split(' '));
      expect([wrong.code, wrong.err]).toEqual([2, expect.stringMatching(/number from|duration/)]);
    }
    await cli.cuff('run', '--session-id', 'silent', '--', 'true');
    const silent = await terminal.run(`${played('silent')}; echo code $?`);
    expect(silent).toContain('This run printed nothing.\ncode 0');
  });
});
