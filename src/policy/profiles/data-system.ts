// Profiles of programs that tell about the machine, its processes and its settings. What changes a
// setting is `config`, which a star never covers. Programs that people install, edit and debug with
// are in data-system-tools.ts, databases and keys in data-system-data.ts.

import type { Profile } from '../profile.ts';
import { DATABASES } from './data-system-data.ts';
import { SYSTEM_TOOLS } from './data-system-tools.ts';

const HELP = '--help --version';

function words(options = ''): Profile {
  return { kind: 'read', options: `${options} ${HELP}`, operands: 'word*' };
}

/** All words are the program's own: `test`, `true`. */
const WORDS: Profile = { kind: 'read', style: 'none', operands: 'word*' };

const ABOUT: Readonly<Record<string, Profile>> = {
  // A word without `+` sets the clock.
  date: {
    kind: 'read',
    options: `-s,--set:config -d,--date:word -f,--file:path -r,--reference:path -u,--utc --universal
      -I,--iso-8601?word -R,--rfc-email --rfc-3339:word --debug --resolution -j -v:word
      +?word ${HELP}`,
    operands: 'config',
  },
  cal: words('-1 -3 -y -m -s -j -n:int -w -A:int -B:int -h'),
  ncal: words('-1 -3 -y -m -s -j -n:int -w -A:int -B:int -h -b'),
  uptime: words('-p,--pretty -s,--since'),
  whoami: words(),
  logname: words(),
  id: words('-a -g,--group -G,--groups -n,--name -r,--real -u,--user -z,--zero -Z'),
  groups: words(),
  who: {
    kind: 'read',
    options: `-a,--all -b,--boot -d,--dead -H,--heading -l,--login --lookup -m -p -q,--count
      -r,--runlevel -s,--short -t,--time -T,-w,--mesg -u,--users ${HELP}`,
    operands: 'path*',
  },
  w: words('-h,--no-header -s,--short -f,--from -i,--ip-addr -u,--no-current -o,--old-style'),
  last: {
    kind: 'read',
    options: `-f,--file:path -n,--limit:int -a -d -F -i -p:word -R -s:word -t:word -w -x -NUM`,
    operands: 'word*',
  },
  uname: words('-a,--all -s -n -r -v -m -p -i -o --kernel-name --kernel-release --machine'),
  hostname: {
    kind: 'read',
    options: `-F,--file:config -b,--boot!config -a,--alias -A,--all-fqdns -d,--domain -f,--fqdn
      --long
      -i,--ip-address -I,--all-ip-addresses -s,--short -y,--yp -h,--help -V,--version`,
    operands: 'config',
  },
  arch: words(),
  nproc: words('--all --ignore:int'),
  getconf: words('-a -v:word'),
  locale: words('-a,--all-locales -m,--charmaps -c,--category-name -k,--keyword-name -v,--verbose'),
  tty: words('-s,--silent --quiet'),
  clear: words('-T:word -V -x'),
  reset: { kind: 'config', operands: 'word*' },
  tput: words('-T:word -S -V -x'),
  sleep: words(),
  true: WORDS,
  false: WORDS,
  test: WORDS,
  '[': WORDS,
  // They print the environment, where the secrets are; with a command line they are opened.
  env: { kind: 'config' },
  printenv: { kind: 'config', options: '-0,--null' },
};

const MEMORY: Readonly<Record<string, Profile>> = {
  free: words('-b -k -m -g -h,--human --si -l -t,--total -s,--seconds:word -c,--count:int -w -L'),
  vmstat: words('-a -f -m -n -s -d -D -p:word -S:word -t -w -y'),
  iostat: words('-c -d -h -k -m -N -p:word -t -x -y -z'),
  mpstat: words('-A -P:word -u'),
  lscpu: words('-a -b -c -e?word -J,--json -p?word -x -y'),
  lsblk: words(`-a,--all -b -d,--nodeps -D -e:word -f,--fs -i -I:word -J,--json -l,--list -m -M -n
    -o,--output:word -O -p,--paths -P,--pairs -r,--raw -s -S -t,--topology -T?word -x:word`),
  lspci: words('-v -vv -vvv -k -n -nn -t -s:word -d:word -x -D -b -m -q'),
  lsusb: words('-v -s:word -d:word -t -V'),
  lsmod: words(),
  modinfo: words('-F:word -0 -n'),
  blkid: {
    kind: 'read',
    options:
      '-c:write -g!write -d -h -i -k -l -L:word -n:word -o:word -O:word -p -s:word -t:word -U',
    operands: 'path*',
  },
};

/**
 * BSD letters show the environment (`e`), a column does (`environ`), and what is no UNIX option
 * makes ps read the whole line again as BSD letters, dashes or not. What is listed here does not,
 * in any combination.
 */
const PS_SHAPE = `-E!secret -o:word!secret -O:word!secret --format:word!secret --sort:word
  --no-headers --headers --forest --cols:int --columns:int --width:int --rows:int -w -ww --version`;

const PS_WORDS: Profile = { kind: 'read', style: 'exact', options: PS_SHAPE };

const PROCESSES: Readonly<Record<string, Profile>> = {
  ps: {
    kind: 'read',
    style: 'exact',
    options: `-A -e -f -F -l -H -L -j -M -a -d -N -p,--pid:int --ppid:int -V ${PS_SHAPE}`,
    subcommands: {
      ...{ aux: PS_WORDS, auxw: PS_WORDS, auxww: PS_WORDS, auxf: PS_WORDS, ax: PS_WORDS },
      ...{ axu: PS_WORDS, axf: PS_WORDS, a: PS_WORDS, u: PS_WORDS, x: PS_WORDS, ux: PS_WORDS },
      ...{ xu: PS_WORDS, axww: PS_WORDS, auxwww: PS_WORDS, f: PS_WORDS, l: PS_WORDS },
    },
  },
  pgrep: words(`-f,--full -l,--list-name -a,--list-full -u,--euid:word -U,--uid:word -x,--exact
    -n,--newest -o,--oldest -P,--parent:word -c,--count -d,--delimiter:word -v,--inverse
    -i,--ignore-case -g,--pgroup:word -G,--group:word -s,--session:word -t,--terminal:word
    -r,--runstates:word -w,--lightweight`),
  pidof: words('-s -c -q -w -x -o:word -t -S:word'),
  pstree: words('-a -A -c -C:word -g -G -h -H:int -l -n -N:word -p -s -S -t -T -u -U -V -Z'),
  // Without `-b` it takes keys, which kill and write.
  top: {
    kind: 'exec',
    options: `-b,--batch -n,--iterations:int -d,--delay:word -p,--pid:word -u:word -U:word -H -i -c
      -o:word
      -O -S -s -w?int -1 -e:word -E:word -l:int -h,--help -v,--version`,
  },
  htop: { kind: 'exec', options: '--version --help' },
  kill: { kind: 'delete', options: '-l -L -s:word -n:word -q:word -NUM', operands: 'delete*' },
  pkill: {
    kind: 'delete',
    options: '-f -x -n -o -u:word -P:word -e -c -i -v -g:word -t:word -U:word -s:word -NUM',
    operands: 'delete*',
  },
  killall: {
    kind: 'delete',
    options: '-e -g -i -I -l -q -r -s:word -u:word -v -w',
    operands: 'delete*',
  },
};

const SYSTEMCTL_SHOW: Profile = {
  kind: 'read',
  style: 'exact',
  options: `-H,--host:word!net -M,--machine:word!exec --root:path!config --image:path!config
    -a,--all -l,--full -n,--lines:int -o,--output:word --no-pager --plain -p,--property:word -P:word
    --value -q,--quiet --state:word -t,--type:word --failed --user --system --no-legend --reverse
    -r`,
  operands: 'word*',
};

const SYSTEMCTL_CHANGE: Profile = { kind: 'config', operands: 'word*' };

const SETTINGS: Readonly<Record<string, Profile>> = {
  stty: { kind: 'config', options: '-a -g -F:path', operands: 'config*' },
  dmesg: {
    kind: 'read',
    options: `-C,--clear!delete -c,--read-clear!delete -n,--console-level:config -D!config -E!config
      --console-off!config --console-on!config -H,--human!exec -F,--file:path -K,--kmsg-file:path
      -T,--ctime -t,--notime -w,--follow -W,--follow-new -l,--level:word -f,--facility:word -k -u -x
      -r,--raw -J,--json -L --color?word -d -e -P,--nopager --since:word --until:word`,
  },
  journalctl: {
    kind: 'read',
    options: `--vacuum-size:word!delete --vacuum-time:word!delete --vacuum-files:word!delete
      --rotate!config --flush!config --sync!config --relinquish-var!config
      --smart-relinquish-var!config --setup-keys!config --force!config --interval:word!config
      --update-catalog!config --cursor-file:write -M,--machine:word!exec --root:path!config
      --image:path!config -D,--directory:path -i,--file:path --namespace:word
      -u,--unit:word --user-unit:word -n?int --lines?int -f,--follow -e,--pager-end -x,--catalog
      -r,--reverse -k,--dmesg -b?word --boot?word -p,--priority:word -S,--since:word -U,--until:word
      -o,--output:word --output-fields:word -t,--identifier:word -g,--grep:word
      --case-sensitive?word
      --facility:word -c,--cursor:word --after-cursor:word --show-cursor --no-pager --no-tail
      --no-hostname --no-full -l,--full -a,--all -q,--quiet -m,--merge --system --user --utc
      --list-boots --disk-usage -F,--field:word -N,--fields --header --list-catalog --dump-catalog
      --verify -h,--help --version`,
    operands: 'word*',
  },
  systemctl: {
    kind: 'config',
    style: 'exact',
    options: SYSTEMCTL_SHOW.options ?? '',
    bare: 'read',
    subcommands: {
      ...{ status: SYSTEMCTL_SHOW, show: SYSTEMCTL_SHOW, cat: SYSTEMCTL_SHOW },
      ...{ 'is-active': SYSTEMCTL_SHOW, 'is-enabled': SYSTEMCTL_SHOW, 'is-failed': SYSTEMCTL_SHOW },
      ...{ 'list-units': SYSTEMCTL_SHOW, 'list-unit-files': SYSTEMCTL_SHOW },
      ...{ 'list-timers': SYSTEMCTL_SHOW, 'list-sockets': SYSTEMCTL_SHOW },
      ...{ 'list-dependencies': SYSTEMCTL_SHOW, 'list-jobs': SYSTEMCTL_SHOW },
      ...{ 'get-default': SYSTEMCTL_SHOW, 'is-system-running': SYSTEMCTL_SHOW },
      ...{ start: SYSTEMCTL_CHANGE, stop: SYSTEMCTL_CHANGE, restart: SYSTEMCTL_CHANGE },
      ...{ reload: SYSTEMCTL_CHANGE, enable: SYSTEMCTL_CHANGE, disable: SYSTEMCTL_CHANGE },
      ...{ mask: SYSTEMCTL_CHANGE, unmask: SYSTEMCTL_CHANGE, 'daemon-reload': SYSTEMCTL_CHANGE },
    },
  },
  loginctl: { kind: 'config', options: '--no-pager' },
  timedatectl: { kind: 'config', options: '--no-pager' },
  hostnamectl: { kind: 'config', options: '--no-pager' },
  'systemd-run': { kind: 'exec', style: 'first', operands: 'exec*' },
  'systemd-analyze': {
    kind: 'read',
    subcommands: {
      blame: { kind: 'read', options: '--no-pager --user --system' },
      time: { kind: 'read' },
      'critical-chain': { kind: 'read', options: '--no-pager', operands: 'word*' },
      verify: { kind: 'read', options: '--man:word --root:path!config', operands: 'path*' },
    },
  },
  service: { kind: 'config', style: 'none', operands: 'config*' },
  crontab: {
    kind: 'config',
    options: '-l -u:word -e!exec -r!delete -i',
    operands: 'exec',
    deeds: { 'deleted 3': '-r', 'protected 2': '*' },
  },
  at: {
    kind: 'exec',
    options: '-f:exec -l -m -q:word -t:word -r!delete -d!delete',
    operands: 'word*',
  },
  batch: { kind: 'exec' },
  sysctl: {
    kind: 'read',
    // `name=value` sets it, with or without `-w`.
    options: `-w,--write!config -p?path!config --load?path!config -f?path!config --system!config
      -a,-A,-X,--all -b,--binary -e,--ignore -N,--names -n,--values -r,--pattern:word -q,--quiet`,
    operands: 'format*',
  },
  mount: { kind: 'config', options: '-l', operands: 'config*', bare: 'read' },
  umount: { kind: 'config', options: '-l -f -a -r', operands: 'config*' },
  modprobe: { kind: 'config', operands: 'config*' },
  rmmod: { kind: 'delete', operands: 'delete*' },
  useradd: { kind: 'config', operands: 'config*' },
  usermod: { kind: 'config', operands: 'config*' },
  passwd: { kind: 'config', operands: 'config*' },
};

const IP_SHOW: Profile = { kind: 'read', style: 'go', options: '-4 -6 -s', operands: 'word*' };

const IP_OBJECT: Profile = {
  kind: 'config',
  bare: 'read',
  style: 'none',
  subcommands: { show: IP_SHOW, list: IP_SHOW, ls: IP_SHOW, get: IP_SHOW, lst: IP_SHOW },
};

const NETWORK: Readonly<Record<string, Profile>> = {
  ip: {
    kind: 'config',
    style: 'go',
    options: `-b:exec -batch:exec -n:config -netns:config -all!config -4 -6 -br -brief -j -json
      -p -pretty -c -color -o -oneline -s -stats -statistics -d -details -h -human -V`,
    subcommands: {
      ...{ addr: IP_OBJECT, a: IP_OBJECT, address: IP_OBJECT, link: IP_OBJECT, l: IP_OBJECT },
      ...{ route: IP_OBJECT, r: IP_OBJECT, neigh: IP_OBJECT, n: IP_OBJECT, rule: IP_OBJECT },
    },
  },
  ifconfig: { kind: 'config', options: '-a -s -v', operands: 'config*', bare: 'read' },
  netstat:
    words(`-a,--all -c,--continuous -e,--extend -g -i,--interfaces -l,--listening -M -n,--numeric
    -o,--timers -p,--program -r,--route -s,--statistics -t,--tcp -u,--udp -v,--verbose -w,--raw
    -W,--wide -x -4 -6 -f:word -I:word`),
  ss: {
    kind: 'read',
    options: `-K,--kill!delete -D,--diag:write -F,--filter:path -N,--net:word!config
      -a,--all -l,--listening -n,--numeric -r,--resolve -t,--tcp -u,--udp -x,--unix -w,--raw
      -p,--processes -e,--extended -m,--memory -o,--options -i,--info -s,--summary -4,--ipv4
      -6,--ipv6
      -f,--family:word -A,--query:word -H,--no-header -O,--oneline -h,--help -V,--version`,
    operands: 'word*',
  },
  ping: {
    kind: 'net',
    style: 'exact',
    options: '-c:int -i:word -W:word -w:int -n -q -v -4 -6 -t:int -s:int',
    operands: 'url',
  },
  ping6: { kind: 'net', style: 'exact', options: '-c:int -i:word -W:word -n -q', operands: 'url' },
  dig: {
    kind: 'net',
    style: 'exact',
    options: '-f:path!config -t:word -x:url -4 -6 +?word',
    operands: 'url*',
  },
  host: { kind: 'net', style: 'exact', options: '-t:word -a -v -4 -6 -W:int', operands: 'url*' },
  nslookup: { kind: 'net', style: 'none', operands: 'url*' },
  traceroute: {
    kind: 'net',
    style: 'exact',
    options: '-n -m:int -w:word -q:int -4 -6 -I -T -p:int',
    operands: 'url*',
  },
  whois: { kind: 'net', style: 'exact', options: '-h:url -p:int', operands: 'url*' },
};

export const SYSTEM: Readonly<Record<string, Profile>> = {
  ...ABOUT,
  ...MEMORY,
  ...PROCESSES,
  ...SETTINGS,
  ...NETWORK,
  ...SYSTEM_TOOLS,
  ...DATABASES,
};
