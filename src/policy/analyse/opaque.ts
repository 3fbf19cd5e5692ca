// Programs that run another command on another machine, or as another user: they need a rule of
// their own. The command behind them is found as far as it can be, so that it can be denied.

import type { Arg } from '../unit.ts';
import { readOptions, type Spec } from './options.ts';
import { programOf } from './wrappers.ts';

export type Behind = {
  readonly name: string;
  /** Command lines, and texts for a shell. */
  readonly argvs: readonly (readonly Arg[])[];
  readonly texts: readonly string[];
};

type Reader = (argv: readonly Arg[]) => {
  readonly argv?: readonly Arg[] | undefined;
  readonly text?: string | undefined;
};

/** The words behind the options, and behind so many operands. */
function words(spec: Spec): Reader {
  return (argv) => {
    const options = readOptions(argv, spec);
    if (options === undefined) return { argv: guess(argv) };
    let at = options.at + (spec.operands ?? 0);
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
function joined(spec: Spec): Reader {
  return (argv) => {
    const options = readOptions(argv, spec);
    const rest = options === undefined ? [] : argv.slice(options.at + (spec.operands ?? 0));
    const text = textOf(rest);
    return text === undefined ? { argv: rest } : { text };
  };
}

function textOf(args: readonly Arg[]): string | undefined {
  const values = args.flatMap((arg) => (arg.kind === 'literal' ? [arg.value] : []));
  return values.length === args.length && values.length > 0 ? values.join(' ') : undefined;
}

/** The text behind an option: `su -c`, `script -c`. */
function option(names: readonly string[], spec: Spec): Reader {
  return (argv) => {
    for (const [at, arg] of argv.entries()) {
      if (arg.kind !== 'literal') continue;
      const next = argv[at + 1];
      if (names.includes(arg.value) && next?.kind === 'literal') return { text: next.value };
      const long = names.find((name) => name.startsWith('--') && arg.value.startsWith(`${name}=`));
      if (long !== undefined) return { text: arg.value.slice(long.length + 1) };
    }
    return words(spec)(argv);
  };
}

/** `docker run [options] image command`, `docker exec [options] container command`. */
const container: Reader = (argv) => {
  const at = argv.findIndex((arg) => arg.kind === 'literal' && /^(?:exec|run)$/.test(arg.value));
  if (at === -1) return {};
  const options = readOptions(argv, CONTAINER, at + 1);
  const from = (options?.at ?? at + 1) + 1;
  return { argv: argv.slice(from) };
};

const CONTAINER: Spec = {
  flags: 'ditPq',
  values: 'uweavpmlhc',
  long: [
    'rm interactive tty detach privileged init read-only quiet user=',
    'workdir= env= env-file= volume= publish= name= network= entrypoint=',
    'mount= memory= cpus= platform= label= hostname= pull= cap-add=',
    'cap-drop= gpus= add-host= index= restart=',
  ].join(' '),
};

/** Behind the `--`. */
const dashes: Reader = (argv) => {
  const at = argv.findIndex((arg) => arg.kind === 'literal' && arg.value === '--');
  return at === -1 ? {} : { argv: argv.slice(at + 1) };
};

const SUDO: Spec = {
  flags: 'AbBEeHiKklnPSsV',
  values: 'CDghpRrTtUu',
  long: [
    'askpass background bell preserve-env[=] edit set-home login list',
    'non-interactive preserve-groups stdin shell validate reset-timestamp',
    'remove-timestamp close-from= chdir= group= host= prompt= chroot= role=',
    'type= command-timeout= other-user= user=',
  ].join(' '),
};

const READERS: Readonly<Record<string, Reader>> = {
  sudo: words(SUDO),
  doas: words({ flags: 'Lns', values: 'aCu' }),
  su: option(['-c', '--command'], { flags: 'lmpPf', values: 'gGswT', long: 'login', operands: 1 }),
  runuser: option(['-c', '--command'], { flags: 'lmpf', values: 'ugGswT', long: 'user= login' }),
  ssh: joined({
    flags: '46AaCfGgKkMNnqsTtVvXxYy',
    values: 'BbcDEeFIiJLlmOopQRSWw',
    operands: 1,
  }),
  docker: container,
  podman: container,
  nerdctl: container,
  kubectl: dashes,
  oc: dashes,
  watch: joined({
    flags: 'bcCdegprtwx',
    values: 'nq',
    long: [
      'beep color no-color differences[=] errexit chgexit interval= precise',
      'no-rerun no-title no-wrap exec equexit=',
    ].join(' '),
  }),
  parallel: joined({
    flags: '0kmtuvXq',
    values: 'ajdINnPSL',
    long: [
      'jobs= keep-order halt= bar eta progress dry-run verbose null will-cite',
      'delay= timeout= retries= joblog= results= max-args= colsep= no-notice',
      'quote',
    ].join(' '),
  }),
  chroot: words({ long: 'userspec= groups= skip-chdir', operands: 1 }),
  nsenter: words({ flags: 'aFe', optional: 'mnuiCUTrw', values: 'tSG', long: 'all target=' }),
  unshare: words({
    optional: 'muinpUCT',
    flags: 'frc',
    values: 'SGRw',
    long: 'fork map-root-user mount[=] net[=] pid[=] user[=] uts[=] ipc[=] mount-proc[=]',
  }),
  script: option(['-c', '--command', '-qc', '-qec', '-ec', '-qfc'], {}),
  flock: option(['-c', '--command'], {
    flags: 'sxenuoFv',
    values: 'wE',
    long: [
      'shared exclusive unlock nonblock nb timeout= wait= close no-fork',
      'verbose conflict-exit-code=',
    ].join(' '),
    operands: 1,
  }),
  strace: words({
    flags: 'cCdfFhiknqrtTvVwxXyYzZD',
    values: 'abeEIoOpPsSuU',
    long: 'follow-forks output= trace= summary',
  }),
  ltrace: words({ flags: 'bcCfhirStTLV', values: 'aADeFlnopsuwx', long: 'output=' }),
  gdb: (argv) => {
    const at = argv.findIndex((arg) => arg.kind === 'literal' && /^--?args$/.test(arg.value));
    return at === -1 ? {} : { argv: argv.slice(at + 1) };
  },
  'systemd-run': words({
    flags: 'dGPqrtS',
    values: 'EpuHM',
    long: [
      'user system scope unit= property= pty pipe quiet wait collect slice=',
      'service-type= uid= gid= nice= setenv= working-directory= same-dir',
      'on-active= on-calendar= remain-after-exit send-sighup no-block',
      'no-ask-password',
    ].join(' '),
  }),
};

export function behind(argv: readonly Arg[]): Behind | undefined {
  const name = programOf(argv[0]);
  if (name === undefined || !Object.hasOwn(READERS, name)) return undefined;
  const { argv: inner = [], text } = READERS[name]?.(argv) ?? {};
  return {
    name,
    argvs: inner.length === 0 ? [] : [inner],
    texts: text === undefined ? [] : [text],
  };
}
