// The parser of `cuff trace`: what it can show of the processes of a run, and of which of them.

import { Argument, type Command, Option } from 'commander';
import { count, countOrNone, duration, pattern } from '../arguments.ts';
import { examples, JSON_DOCUMENT } from '../help.ts';

const TOP_KEYS = ['time', 'cpu', 'memory', 'bytes'];

/** Of the whole run, so that a choice of processes says nothing about them. */
const WHOLE = ['output', 'format', 'critical', 'diff'];

export function addTraceCommand(top: Command, id: string): void {
  const trace = top
    .command('trace')
    .description('the processes inside a run: how each ended, and what each used and wrote')
    .addArgument(new Argument('<id>', id))
    .addArgument(new Argument('[other]', 'with --diff: a later run of the same'));
  addViews(trace);
  addChoice(trace);
  trace
    .addHelpText(
      'after',
      examples(
        'cuff trace 1a2b',
        'cuff trace 1a2b --failed',
        'cuff trace 1a2b --top cpu',
        'cuff trace 1a2b --timeline --min-time 1s',
        'cuff trace 1a2b --output 4711',
        'cuff trace 1a2b 3c4d --diff',
      ),
    )
    .action(async (...words) => (await import('./show.ts')).trace(words[0], words[1], words[2]));
}

function addViews(trace: Command): void {
  trace
    .addOption(new Option('--tree', 'each process below the one that started it (default)'))
    .addOption(new Option('--timeline', 'a bar for each process').conflicts(['tree']))
    .addOption(
      new Option('--top [key]', 'the 20 most costly, by time, cpu, memory or bytes (default: time)')
        .choices(TOP_KEYS)
        .preset('time')
        .conflicts(['tree', 'timeline']),
    )
    .addOption(
      new Option(
        '--critical',
        'what the run waited for: making others faster gains nothing',
      ).conflicts(['tree', 'timeline', 'top']),
    )
    .addOption(
      new Option(
        '--diff',
        'which processes are new, gone, slower or ended otherwise in a second run',
      ).conflicts(['tree', 'timeline', 'top', 'critical']),
    )
    .addOption(new Option('--json', JSON_DOCUMENT).conflicts(['tree', 'timeline']))
    .addOption(
      new Option('--output <pid>', 'what this process wrote, byte for byte')
        .argParser(count)
        .conflicts(['tree', 'timeline', 'top', 'critical', 'diff', 'json']),
    )
    .addOption(new Option('--stdout', 'with --output: not what went to stderr'))
    .addOption(new Option('--stderr', 'with --output: only that').conflicts(['stdout']))
    .addOption(
      new Option('--format <format>', "for other programs: Chrome's trace viewer, OpenTelemetry")
        .choices(['chrome', 'otlp'])
        .conflicts(['tree', 'timeline', 'top', 'critical', 'diff', 'json', 'output']),
    );
}

function addChoice(trace: Command): void {
  trace
    .addOption(new Option('--failed', 'only those that failed').conflicts(WHOLE))
    .addOption(
      new Option('--grep <pattern>', 'only those whose command line matches')
        .argParser(pattern)
        .conflicts(WHOLE),
    )
    .addOption(
      new Option('--min-time <duration>', 'only those that ran so long')
        .argParser(duration)
        .conflicts(WHOLE),
    )
    .addOption(
      new Option('--depth <n>', 'only so many levels below the first process')
        .argParser(countOrNone)
        .conflicts(WHOLE),
    )
    .addOption(new Option('--no-fold', 'a row for each of several equal processes'));
}
