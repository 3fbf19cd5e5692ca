// Which stages of a pipeline failed, as a trace tells it, held against what bash itself says in
// PIPESTATUS. Where a trace cannot be certain it says nothing; it never says anything else.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { hiddenIn } from '../../src/agent/report-trace.ts';
import { createShell } from '../../src/shell/shell.ts';
import { lacking } from '../requirements.ts';
import { untraceable } from './helper.ts';

const noTracing = lacking(untraceable, 'runs cannot be traced here');

const BROKEN_PIPE = 141;

/** Programs, builtins, groups, functions, scripts and signals in every place of a pipeline. */
const PIPELINES = [
  'false | true',
  'true | false',
  'false | false | true',
  'cat missing | cat | wc -l',
  'true | cat missing | wc -l',
  '{ false; } | (exit 3) | cat',
  '/bin/false | env true | cat',
  "sh -c 'exit 9' | sh -c 'kill -9 $$' | cat",
  'env sh -c "exit 4" | cat',
  'time false | cat',
  '! false | cat',
  'command false | builtin true',
  'f() { return 5; }; f | cat',
  'X=1 false | Y=2 cat',
  './script 6 | cat',
  'false |& cat',
  'grep nothing /dev/null | cat',
  'yes | head -1',
  'test 1 = 2 | cat',
  'for i in 1 2; do false; done | cat',
  'while read x; do :; done </dev/null | false | cat',
  '(false | true) | false | true',
  'echo $(false) | cat',
  'false $(false | false) | cat',
  'cat <(false) | true',
  'sleep 0.01 | false | sleep 0.02 | true',
];

/** With these something else may have run last, unless a program of that name proves it. */
const UNSURE = /&&|\|\||^\(exit|builtin/;

const BEFORE = ['', 'ls missing; ', 'false | cat; ', '(exit 2); ', 'true && ', 'false || '];

describe.skipIf(noTracing)('the stages that a trace names', () => {
  const root = mkdtempSync(join(tmpdir(), 'cuff-hall-stages-'));
  const cwd = join(root, 'project');
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'script'), '#!/bin/sh\nexit $1\n');
  chmodSync(join(cwd, 'script'), 0o755);
  afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));

  /** The stages before the last that failed, by bash's own word. */
  function truth(command: string): string[] {
    const text = `${command}\nprintf '%s ' "\${PIPESTATUS[@]}" >status`;
    spawnSync('bash', ['--noprofile', '--norc', '-c', text], { cwd, stdio: 'ignore' });
    const said = spawnSync('cat', ['status'], { cwd }).stdout.toString().trim();
    const codes = said.split(' ').map(Number);
    return codes.flatMap((code, i) =>
      code === 0 || i === codes.length - 1 ? [] : [`${i + 1}/${codes.length} ${code}`],
    );
  }

  async function told(command: string): Promise<string[]> {
    const shell = createShell({ stateRoot: join(root, 'state'), cwd, trace: 'on' });
    const run = shell.start(command);
    await run.closed;
    const hidden = hiddenIn(shell.open(run.id));
    shell.close();
    return hidden.flatMap(({ stage, end }) => {
      if (stage === undefined || !stage.ending || stage.number === stage.of) return [];
      const code = end.kind === 'exited' ? end.code : 137; // only SIGKILL is sent here
      return [`${stage.number}/${stage.of} ${code}`];
    });
  }

  it.each(BEFORE)('are those that failed, behind "%s"', async (before) => {
    let named = 0;
    for (const pipeline of PIPELINES) {
      const command = `${before}${pipeline}`;
      const [wanted, found] = [truth(command), await told(command)];
      const answers = /^(grep|test) /.test(pipeline) || pipeline.includes('cat <(');
      const certain = wanted.filter((one) => !answers && !one.endsWith(` ${BROKEN_PIPE}`));
      for (const one of found)
        expect([command, wanted]).toEqual([command, expect.arrayContaining([one])]);
      if (!UNSURE.test(command)) {
        expect([command, certain.filter((one) => !found.includes(one))]).toEqual([command, []]);
      }
      named += found.length;
    }
    expect(named).toBeGreaterThan(8);
  });
});
