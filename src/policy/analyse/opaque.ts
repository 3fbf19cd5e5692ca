// Programs that run another command on another machine, or as another user: they need a rule of
// their own. The command behind them is found as far as it can be, so that it can be denied.

import { optionTable, readOptions } from '../../text/options.ts';
import { wrapperOf } from '../../text/wrappers.ts';
import type { Arg } from '../unit.ts';
import { literalOf, textOf, wordArg } from './args.ts';
import { optionsOf } from './options.ts';
import { programOf } from './wrappers.ts';

/** A command line, or a text for a shell. */
type Inner = { readonly argv?: readonly Arg[]; readonly text?: Arg };

export type Behind = Inner & { readonly name: string };

type Reader = (argv: readonly Arg[]) => Inner;

/** The words behind the options, and behind so many operands. */
function words(list = '', operands = 0): Reader {
  return (argv) => {
    const options = optionsOf(argv, list);
    if (options === undefined) return { argv: guess(argv) };
    let at = options.at + operands;
    while (isVariable(argv[at])) at += 1;
    return { argv: argv.slice(at) };
  };
}

function isVariable(arg: Arg | undefined): boolean {
  return arg?.kind === 'literal' && /^[A-Za-z_]\w*=/.test(arg.value);
}

/** The options are not known: the first word that looks like a program. */
function guess(argv: readonly Arg[]): readonly Arg[] {
  const at = argv.findIndex(
    (arg, index) => index > 0 && arg.kind === 'literal' && /^[\w./]/.test(arg.value),
  );
  return at === -1 ? [] : argv.slice(at);
}

/** Words that a shell gets as one text, as `watch` and `ssh` do. */
function joined(list: string, operands = 0): Reader {
  return (argv) => {
    const options = optionsOf(argv, list);
    const rest = options === undefined ? [] : argv.slice(options.at + operands);
    const text = joinedText(rest);
    return text === undefined ? { argv: rest } : { text: wordArg(text) };
  };
}

function joinedText(args: readonly Arg[]): string | undefined {
  const values = args.flatMap((arg) => (arg.kind === 'literal' ? [arg.value] : []));
  return values.length === args.length && values.length > 0 ? values.join(' ') : undefined;
}

/** The text behind `-c`. `anywhere`: options may stand behind operands, as in `su root -lc`. */
function textOption(list: string, { operands = 0, anywhere = false } = {}): Reader {
  const all = `-c,--command: ${list}`;
  return (argv) => {
    const uses = readOptions(argv, optionTable(all), textOf, { from: 1, anywhere: true }).uses;
    const given = uses.find(
      ({ option, at }) =>
        option?.name === '--command' &&
        (anywhere || at < front(argv, all) || /^(?:-c|--.*)$/s.test(literalOf(argv[at]))),
    );
    const value = given?.joined?.value;
    const text = value === undefined ? argv[given?.next ?? argv.length] : wordArg(value);
    if (text?.kind === 'literal') return { text };
    return { ...words(all, operands)(argv), ...(text !== undefined && { text }) };
  };
}

function front(argv: readonly Arg[], list: string): number {
  return readOptions(argv, optionTable(list), textOf, { from: 1 }).at;
}

const CONTAINER = `-d,--detach -i,--interactive -t,--tty -P -q,--quiet --rm --privileged --init
  --read-only -u,--user: -w,--workdir: -e,--env: -a: -v,--volume: -p,--publish: -m,--memory:
  -l,--label: -h,--hostname: -c: --env-file: --name: --network: --entrypoint: --mount: --cpus:
  --platform: --pull: --cap-add: --cap-drop: --gpus: --add-host: --index: --restart:`;

/** `docker run [options] image command`, `docker exec [options] container command`. */
const container: Reader = (argv) => {
  const at = argv.findIndex((arg) => arg.kind === 'literal' && /^(?:exec|run)$/.test(arg.value));
  if (at === -1) return {};
  const options = optionsOf(argv, CONTAINER, at + 1);
  const from = (options?.at ?? at + 1) + 1;
  return { argv: argv.slice(from) };
};

/** Behind one of these words. */
function behindWord(mark: RegExp): Reader {
  return (argv) => {
    const at = argv.findIndex((arg) => arg.kind === 'literal' && mark.test(arg.value));
    return at === -1 ? {} : { argv: argv.slice(at + 1) };
  };
}

const READERS: Readonly<Record<string, Reader>> = {
  sudo: words(wrapperOf('sudo')?.options),
  doas: words(wrapperOf('doas')?.options),
  su: textOption('-l,--login -m -p -P -f -g: -G: -s: -w: -T:', { operands: 1, anywhere: true }),
  runuser: textOption('-l,--login -m -p -f -u,--user: -g: -G: -s: -w: -T:'),
  pkexec: words('--user: --disable-internal-agent --keep-cwd'),
  ssh: joined(
    `-4 -6 -A -a -C -f -G -g -K -k -M -N -n -q -s -T -t -V -v -X -x -Y -y -B: -b: -c: -D: -E: -e:
    -F: -I: -i: -J: -L: -l: -m: -O: -o: -p: -Q: -R: -S: -W: -w:`,
    1,
  ),
  docker: container,
  podman: container,
  nerdctl: container,
  kubectl: behindWord(/^--$/),
  oc: behindWord(/^--$/),
  watch: joined(
    `-b,--beep -c,--color -C,--no-color -d --differences? -e,--errexit -g,--chgexit -p,--precise
    -r,--no-rerun -t,--no-title -w,--no-wrap -x,--exec -n,--interval: -q,--equexit:`,
  ),
  parallel: joined(
    `-0,--null -k,--keep-order -m -t -u -v,--verbose -X -q,--quote -a: -j,--jobs: -d: -I: -N:
    -n,--max-args: -P: -S: -L: --halt: --bar --eta --progress --dry-run --will-cite --delay:
    --timeout: --retries: --joblog: --results: --colsep: --no-notice`,
  ),
  chroot: words('--userspec: --groups: --skip-chdir', 1),
  nsenter: words('-a,--all -F -e -m? -n? -u? -i? -C? -U? -T? -r? -w? -t,--target: -S: -G:'),
  unshare:
    words(`-f,--fork -r,--map-root-user -c -m,--mount? -u,--uts? -i,--ipc? -n,--net? -p,--pid?
      -U,--user? -C? -T? --mount-proc? -S: -G: -R: -w:`),
  script: textOption('-a -e -f -q -t? -E: -I: -O: -B: -T: -m: -o:', { anywhere: true }),
  flock: textOption(
    `-s,--shared -x,--exclusive -e -u,--unlock -n,--nonblock --nb -o,--close -F,--no-fork
    -v,--verbose -w,--timeout: --wait: -E,--conflict-exit-code:`,
    { operands: 1 },
  ),
  strace:
    words(`-c,--summary -C -d -D -f,--follow-forks -F -h -i -k -n -q -r -t -T -v -V -w -x -X -y
      -Y -z -Z -a: -b: -e,--trace: -E: -I: -o,--output: -O: -p: -P: -s: -S: -u: -U:`),
  ltrace:
    words(`-b -c -C -f -h -i -r -S -t -T -L -V -a: -A: -D: -e: -F: -l: -n: -o,--output: -p: -s: -u:
      -w: -x:`),
  gdb: behindWord(/^--?args$/),
  'systemd-run':
    words(`-d,--same-dir -G,--collect -P,--pipe -q,--quiet -r,--remain-after-exit -t,--pty
      -S,--shell -E,--setenv: -p,--property: -u,--unit: -H: -M: --user --system --scope --wait
      --slice: --service-type: --uid: --gid: --nice: --working-directory: --on-active:
      --on-calendar: --send-sighup --no-block --no-ask-password`),
};

export function behind(argv: readonly Arg[]): Behind | undefined {
  const name = programOf(argv[0]);
  if (name === undefined || !Object.hasOwn(READERS, name)) return undefined;
  const { argv: inner = [], text } = READERS[name]?.(argv) ?? {};
  return { name, ...(inner.length > 0 && { argv: inner }), ...(text !== undefined && { text }) };
}
