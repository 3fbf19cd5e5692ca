// Programs that run the program behind their own words, with the options that they have in front of
// it: `timeout 10 make`, `sudo -u x ls`, `xargs -0 rm`. The notation is that of `options.ts`. An
// option with an effect makes the wrapper more than that: it writes a file, or runs nothing at all
// (`instead`). What is not listed is not understood, never guessed.

export type Wrapper = {
  readonly options: string;
  /** Words of its own between the options and the program. */
  readonly operands: number;
  /** Only the shell itself has it. */
  readonly builtin: boolean;
  /** Whether `NAME=value` may stand in front of the program. */
  readonly assignments: boolean;
};

type Listed = Partial<Wrapper>;

/** They end as the program ends that they run. */
const LISTED: Readonly<Record<string, Listed>> = {
  arch: { options: '-32 -64 -i386 -x86_64 -x86_64h -arm64 -arm64e -arch:' },
  builtin: { builtin: true },
  chronic: { options: '-e -v' },
  chrt: {
    options: `-a,--all-tasks -b,--batch -f,--fifo -i,--idle -m -o,--other -r,--rr -d,--deadline
      -R,--reset-on-fork -v,--verbose -T: -P: -D:`,
    operands: 1,
  },
  command: { options: '-p -v!instead -V!instead', builtin: true },
  doas: { options: '-n -s -L!instead -a: -C: -u:' },
  env: {
    options: `-i,--ignore-environment -v,--debug -0,--null -u,--unset: -C,--chdir: -a,--argv0:
      -S,--split-string:!splits --default-signal? --ignore-signal? --block-signal?
      --list-signal-handling`,
    assignments: true,
  },
  exec: { options: '-c -l -a:', builtin: true },
  ionice: { options: '-t,--ignore -c,--class: -n,--classdata:' },
  nice: { options: '-n,--adjustment: -NUM,--NUM,-+NUM' },
  nohup: {},
  setsid: { options: '-c,--ctty -f,--fork -w,--wait' },
  stdbuf: { options: '-i,--input: -o,--output: -e,--error:' },
  sudo: {
    options: `-A,--askpass -b,--background -B,--bell -E --preserve-env? -H,--set-home -i,--login
      -k,--reset-timestamp -n,--non-interactive -P,--preserve-groups -s,--shell -S,--stdin
      -C,--close-from: -D,--chdir: -g,--group: -h,--host: -p,--prompt: -R,--chroot: -r,--role:
      -T,--command-timeout: -t,--type: -u,--user: -U,--other-user: -e,--edit!instead
      -K,--remove-timestamp!instead -l,--list!instead -v,--validate!instead -V!instead`,
    assignments: true,
  },
  taskset: { options: '-a,--all-tasks -c,--cpu-list', operands: 1 },
  time: {
    options: `-a,--append -p,--portability -q,--quiet -v,--verbose -f,--format:
      -o,--output:!write`,
  },
  timeout: {
    options: '-f,--foreground -p,--preserve-status -v,--verbose -k,--kill-after: -s,--signal:',
    operands: 1,
  },
};

export function wrapperOf(name: string): Wrapper | undefined {
  const listed = Object.hasOwn(LISTED, name) ? LISTED[name] : undefined;
  if (listed === undefined) return undefined;
  const { options = '', operands = 0, builtin = false, assignments = false } = listed;
  return { options, operands, builtin, assignments };
}
