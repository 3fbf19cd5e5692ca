// Profiles of programs that pack, unpack and copy trees. Archives decide which files are written,
// so that unpacking counts as overwriting; several of these programs start others on the way.

import type { Profile } from '../profile.ts';

/** For all ways to write the letters of an operation. */
const TAR_OPTIONS = `-I,--use-compress-program:exec --to-command:exec --checkpoint-action:exec
  -F,--info-script:exec --new-volume-script:exec --rsh-command:exec --rmt-command:exec
  -T,--files-from:exec --remove-files!delete --recursive-unlink!delete -U,--unlink-first!delete
  --delete!delete -P,--absolute-names!config --overwrite-dir!config --keep-directory-symlink!config
  --unlink!delete --no-overwrite-dir --no-overwrite -g,--listed-incremental:delete
  --index-file:delete --volno-file:delete --transform:config --xform:config
  --owner:word!config --group:word!config
  --mode:word!config --owner-map:config --group-map:config -p,--preserve-permissions!config
  --same-permissions!config --same-owner!config --no-same-owner --no-same-permissions
  --force-local --xattrs --acls --selinux
  -C,--directory:output -f,--file:archive -X,--exclude-from:path --exclude:word
  --exclude-vcs --exclude-vcs-ignores --exclude-caches --strip-components:int --one-top-level?output
  -x,--extract,--get!delete -c,--create -t,--list -r,--append -u,--update -A,--catenate
  --concatenate
  -d,--diff,--compare -z,--gzip,--gunzip,--ungzip -j,--bzip2 -J,--xz --zstd --lzma --lzip --lzop
  -Z,--compress -a,--auto-compress --no-auto-compress -v,--verbose -w,--interactive --confirmation
  -k,--keep-old-files --skip-old-files --keep-newer-files --overwrite -O,--to-stdout
  -h,--dereference --hard-dereference --no-recursion --recursion --totals?word --checkpoint?int
  -m,--touch -N,--newer:word --after-date:word --newer-mtime:word --mtime:word -l,--check-links
  -W,--verify --wildcards --no-wildcards --ignore-case --anchored --no-anchored -H,--format:word
  --sort:word --numeric-owner --occurrence?int --null --no-null --verbatim-files-from -i -S,--sparse
  -B -b,--blocking-factor:int --full-time --utc --quoting-style:word --show-defaults
  --show-omitted-dirs -R,--block-number --warning:word --level:int --label:word -V:word
  --one-file-system
  --posix --pax-option:word --usage --help --version`;

/** With an `f` among its letters, the first word is the archive. */
function tar(kind: 'read' | 'write', letters: string): Profile {
  const members = kind === 'read' ? 'path*' : 'output*';
  const operands = letters.includes('f') ? `archive ${members}` : members;
  return { kind, options: TAR_OPTIONS, operands };
}

/** `tar xzf`: letters without a dash, as far as none of them takes a word that is code. */
const TAR_BUNDLES: Readonly<Record<string, Profile>> = Object.fromEntries(
  [
    ...['xf', 'xvf', 'xfv', 'xzf', 'xzvf', 'xvzf', 'zxf', 'zxvf', 'xjf', 'xjvf', 'xvjf', 'xJf'],
    ...['xJvf', 'xvJf', 'xpf', 'cf', 'cvf', 'czf', 'czvf', 'cvzf', 'zcf', 'zcvf', 'cjf', 'cjvf'],
    ...['cJf', 'cJvf', 'rf', 'rvf', 'uf', 'x', 'c', 'cz', 'xz'],
  ]
    .map((letters): [string, Profile] => [letters, tar('write', letters)])
    .concat(
      ['tf', 'tvf', 'tzf', 'tzvf', 'tvzf', 'ztf', 'ztvf', 'tjf', 'tJf', 'tJvf', 't', 'tv'].map(
        (letters): [string, Profile] => [letters, tar('read', letters)],
      ),
    ),
);

/** Letters without a dash are its first word or none. */
export const TAR_WITH_DASH: Profile = { kind: 'write', options: TAR_OPTIONS, operands: 'output*' };

// A first word that is no such bundle is not known: some letters (`I`, `F`, `T`) run programs.
export const TAR_LETTERS: Profile = {
  kind: 'write',
  options: TAR_OPTIONS,
  subcommands: TAR_BUNDLES,
};

/** Which of the two it is, its first word tells. */
const TAR: Profile = { ...TAR_LETTERS, own: 'tar' };

/** gzip, bzip2, xz, zstd and lz4: the file that was packed is gone unless it is kept. */
function packer(options: string): Profile {
  return {
    kind: 'write',
    options: `-f,--force!delete -c,--stdout,--to-stdout -d,--decompress,--uncompress -k,--keep
      -l,--list -t,--test -v,--verbose -q,--quiet -n,--no-name -N,--name
      -r,--recursive!delete -1,--fast
      -2 -3 -4 -5 -6 -7 -8 -9,--best -h,--help -V,--version ${options}`,
    operands: 'output*',
  };
}

const TO_STDOUT: Profile = {
  kind: 'read',
  options: '-f,--force -c -d -k -l -q,--quiet -t -v,--verbose -h,--help -V,--version',
  operands: 'path*',
};

const GZIP = packer('-S,--suffix:output -a --rsyncable');
const BZIP2 = packer('-z,--compress -s,--small -L,--license');
const XZ =
  packer(`-z,--compress -S,--suffix:output -e,--extreme -0 -T,--threads:int -F,--format:word
  -C,--check:word -M,--memlimit:word --files?path!secret --files0?path!secret --single-stream
  --no-sparse -H --robot --no-warn -Q`);
const ZSTD =
  packer(`-o:output --rm!delete -D:path --output-dir-flat:output --output-dir-mirror:output
  --filelist:path!secret --patch-from:path --train!write -T?int -z,--compress --ultra --long?int
  --no-progress --stdout`);

const SEVEN_ZIP: Profile = {
  kind: 'write',
  style: 'exact',
  // Its switches have their values joined, and `@list` names files: nothing of that is known here.
  subcommands: {
    l: { kind: 'read', style: 'exact', options: '-o:write', operands: 'path' },
    t: { kind: 'read', style: 'exact', options: '-o:write', operands: 'path' },
    x: { kind: 'write', style: 'exact', options: '-o:output -y!delete', operands: 'path output*' },
    e: { kind: 'write', style: 'exact', options: '-o:output -y!delete', operands: 'path output*' },
    a: { kind: 'write', style: 'exact', options: '-r', operands: 'output*' },
    d: { kind: 'delete', operands: 'delete*' },
  },
};

export const ARCHIVES: Readonly<Record<string, Profile>> = {
  tar: TAR,
  gtar: TAR,
  gzip: GZIP,
  gunzip: GZIP,
  bzip2: BZIP2,
  bunzip2: BZIP2,
  xz: XZ,
  unxz: XZ,
  zstd: ZSTD,
  unzstd: ZSTD,
  zcat: TO_STDOUT,
  gzcat: TO_STDOUT,
  bzcat: TO_STDOUT,
  xzcat: TO_STDOUT,
  zstdcat: TO_STDOUT,
  zip: {
    kind: 'write',
    // `-T` starts unzip, `-TT` whatever it is told to.
    options: `-T,--test!exec --unzip-command:exec -m,--move!delete -d,--delete!delete
      -O,--output-file:output --out:output --logfile-path:write -b,--temp-path:write
      -P,--password:word!secret -e,--encrypt -r,--recurse-paths -R,--recurse-patterns
      -j,--junk-paths
      -q,--quiet -v,--verbose -u,--update -f,--freshen -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -y,--symlinks
      -X
      --no-extra -D,--no-dir-entries -x,--exclude -i,--include -n,--suffixes:word -F,--fix
      -g,--grow -l
      -o,--latest-time -t:word --from-date:word -s,--split-size:word -z,--archive-comment
      -h,--help`,
    operands: 'output*',
  },
  unzip: {
    kind: 'write',
    style: 'exact',
    // What is overwritten is in the archive. `-:`, by which names lead out, cannot be listed.
    options: `-K!config -o!delete -P:word!secret -d:output -l -v -p -c -t -z -Z -f -u -x -n -j
      -q -a -aa -b -C -L -M -U -V -W -X -h -hh -qq -1 -2`,
    operands: 'delete output*',
    operandsWith: { '-l': 'path*', '-v': 'path*', '-p': 'path*', '-t': 'path*', '-Z': 'path*' },
  },
  zipinfo: {
    kind: 'read',
    style: 'exact',
    options: '-1 -2 -s -m -l -v -h -t -T -z',
    operands: 'path*',
  },
  '7z': SEVEN_ZIP,
  '7za': SEVEN_ZIP,
  '7zz': SEVEN_ZIP,
  cpio: {
    kind: 'write',
    options: `--rsh-command:exec -F,--file:archive -I:archive -O:archive -D,--directory:output
      -i,--extract!delete -p,--pass-through!delete -o,--create -t,--list -v,--verbose
      -u,--unconditional!delete -d,--make-directories -H,--format:word --quiet
      --no-absolute-filenames --absolute-filenames!config -0,--null`,
    operands: 'output*',
  },
  rsync: {
    kind: 'net',
    style: 'exact',
    // Operands are files, or `host:file`: to be on the safe side they are all hosts.
    options: `-e,--rsh:exec --rsync-path:exec -M,--remote-option:exec --daemon!exec --config:config
      --early-input:path!secret --password-file:path!secret --files-from:path!secret
      -f,--filter:config
      -F!config --delete!delete --delete-before!delete --delete-during!delete --del!delete
      --delete-delay!delete --delete-after!delete --delete-excluded!delete
      --delete-missing-args!delete --remove-source-files!delete --force!delete --max-delete:int
      --log-file:write --write-batch:write --only-write-batch:write --read-batch:write
      --partial-dir:write -T,--temp-dir:write --backup-dir:write --chown:config --chmod:config
      --usermap:config --groupmap:config --fake-super!config --super!config --sockopts:config
      --address:word --port:int --outbuf:word --iconv:word -s,--secluded-args --old-args
      --exclude-from:path --include-from:path --compare-dest:path --copy-dest:path --link-dest:path
      --exclude:word --include:word --info:word --debug:word --out-format:word
      --log-file-format:word --bwlimit:word --timeout:int --contimeout:int --max-size:word
      --min-size:word --suffix:output --modify-window:int --block-size:word --checksum-choice:word
      --compress-choice:word --compress-level:int --skip-compress:word -C,--cvs-exclude
      -a,--archive -v,--verbose -z,--compress -n,--dry-run -r,--recursive -l,--links -L,--copy-links
      -p,--perms -t,--times -g,--group -o,--owner -D -H,--hard-links -A,--acls -X,--xattrs
      -u,--update -b,--backup -c,--checksum -q,--quiet -P --progress --partial -i,--itemize-changes
      -h,--human-readable --stats --size-only --ignore-times -I --ignore-existing --existing -W
      --whole-file --inplace --append --numeric-ids -x,--one-file-system -m,--prune-empty-dirs
      -R,--relative -d,--dirs -O -J -k -K -S,--sparse -E,--executability --list-only --no-perms
      --no-owner --no-group --no-motd -4,--ipv4 -6,--ipv6 --version --help`,
    operands: 'url*',
  },
};
