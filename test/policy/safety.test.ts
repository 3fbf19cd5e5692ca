// What is refused before it runs, what is not, and that writing it differently does not help.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DangerousPattern, dangerousPattern } from '../../src/policy/safety.ts';
import { judgement, PROJECT } from './helper.ts';

const REFUSED: Readonly<Record<DangerousPattern, readonly string[]>> = {
  'rm -rf /': [
    'rm -rf /',
    'rm -fr /',
    'rm -r -f /',
    'rm -Rf /',
    'rm -rvf /',
    'rm --recursive --force /',
    'rm -rf -- /',
    'rm -rf / --no-preserve-root',
    'rm / -rf',
    'rm -rf //',
    'rm -rf /.',
    'rm -rf /..',
    'rm -rf /tmp/..',
    'rm -rf x /',
    'rm -rf "$x" /',
    'rm -rf / *',
    'sudo rm -rf /',
    'sudo -n -u root -- /bin/rm -rf /',
    'cd x && rm -rf /',
    'false || (rm -rf /)',
    'if true; then rm -rf /; fi',
    'f() { rm -rf /; }',
    'echo $(rm -rf /)',
    'echo `rm -rf /`',
    'cat <(rm -rf /)',
    'cat <<E\n$(rm -rf /)\nE',
    `bash -c 'rm -rf /'`,
    `bash -lc "cd $x && rm -rf /"`,
    `sh -e -o pipefail -c 'rm -rf /' name`,
    `sudo bash -c "sh -c 'rm -rf /'"`,
    'eval rm -rf /',
    `eval 'rm -rf' /`,
    `bash <<'E'\nrm -rf /\nE`,
    `sh -s <<< 'rm -rf /'`,
    `trap -- 'rm -rf /' EXIT`,
    'env A=1 rm -rf /',
    'command rm -rf /',
    'nohup rm -rf / &',
    'timeout 10 rm -rf /',
    'xargs -0 rm -rf /',
    'busybox rm -rf /',
    'A=1 rm -rf /',
    '"rm" -rf /',
    '\\rm -rf /',
    '/bin/rm -rf /',
    'rm -rf "/"',
    `rm '-rf' $'/'`,
    'r\\\nm -rf /',
    'rm -rf / ) x',
    'rm -rf /; echo "never closed',
    'echo (; rm -rf /',
    'rm -rf /{,*}',
    'rm -rf {/,/tmp}',
    'rm -rf {/tmp,{x,/}}',
    'rm -rf {"/",$x}',
    '{rm,-rf,/}',
    'env -S "rm -rf /"',
    'env -i -S "rm -rf" /',
    'sudo /usr/bin/env -iS"rm -rf /"',
    `env --split-string='rm -rf /'`,
    'su -c "rm -rf /"',
    `sudo su - root -c 'cd x && rm -rf /'`,
    `su -lc 'rm -rf /' root`,
    `su --command='rm -rf /'`,
    `runuser root -c 'rm -rf /'`,
    `script -qec 'rm -rf /' /dev/null`,
    'flock f rm -rf /',
    'flock -w 5 -n f rm -rf /',
    `flock f -c 'rm -rf /'`,
    'flock --wait=3 f --command "rm -rf /"',
    'strace rm -rf /',
    'strace -f -o log --trace=file rm -rf /',
    'ltrace -S rm -rf /',
    'pkexec --user root rm -rf /',
    'chroot / rm -rf /',
    'sudo chroot --userspec=a:b / rm -rf /',
  ],
  'rm -rf /*': [
    'rm -rf /*',
    'rm -fr /*',
    'sudo rm -rf /*',
    'rm -rf "/"*',
    'rm -rf //*',
    'rm -rf /.*',
    'rm -rf /*/',
    'rm -rf -- /../*',
    `bash -c 'rm -rf /*'`,
    'fi; rm -rf /*',
    'fi; rm -rf /***',
    'rm -rf /**',
    'rm -rf /***/',
    'rm -rf /*/*',
    'rm -rf /**/*',
    'rm -rf /[a-z]*',
    'rm -rf /[!x]*',
    'rm -rf /???',
    'rm -rf /.[!.]*',
    'rm -rf /!(tmp)',
    'rm -rf /{*,.*}',
    'rm -rf {/tmp,/}*',
    'rm -rf /{tmp/x,[a-z]*}',
  ],
  '> /dev/sda': [
    'cat x > /dev/sda',
    '> /dev/sda',
    'echo x >/dev/sda1',
    'echo x >> /dev/sdb',
    'echo x >| "/dev/sda"',
    'echo x &> /dev/vda',
    'echo x 1<>/dev/xvda1',
    '>/dev/nvme0n1',
    ': > /dev/nvme0n1p2',
    ': > /dev/mmcblk0p1',
    ': > //dev//sda',
    ': > /dev/sd$x',
    '{ cat x; } > /dev/sda',
    'while read x; do echo; done > /dev/hda',
    'cat x | sudo tee -a /dev/sda',
    `bash -c 'cat x > /dev/sda'`,
    '> /dev/dm-0',
    '> /dev/md0',
    '> /dev/md127p1',
    '> /dev/md/data',
    '> /dev/mapper/x',
    '> /dev/mapper/$x',
    '> /dev/disk/by-label/x',
    '> /dev/block/8:0',
    'tee /dev/sd{a,b}',
  ],
  'mkfs.': [
    'mkfs.ext4 /dev/x',
    '/sbin/mkfs.xfs -f /dev/x',
    'mkfs -t ext4 /dev/x',
    'sudo mkfs.btrfs /dev/x',
    'yes | mkfs.ext4 /dev/x',
    'mkfs.ext4 /dev/sda1',
    'mkfs.{ext4,xfs} /dev/sda1',
    'mkfs.ext4 -L data "$disk"',
    'mkfs.ext4 disk.img /dev/sda1',
    'mkfs.ext4 --help /dev/sda1',
    'mkfs -V -t ext4 /dev/sda1',
    'mkfs.ext4 ../../dev/sda1',
    'cd /dev && mkfs.ext4 sda1',
    'mkfs.xfs -d name=/dev/sda1',
    'mkfs.ext4',
    'mkfs.ext4 -F',
    'echo /dev/sda1 | xargs mkfs.ext4 -L data',
    '/sbin/mkfs.sh /dev/sda1',
    './mkfs.ext4 /dev/sda1',
    'mkfs.sh /dev/sda1',
  ],
  'dd if=.* of=/dev/': [
    'dd if=/dev/zero of=/dev/sda',
    'dd of=/dev/sda if=/dev/zero bs=1M',
    'dd if=x.img bs=4M of=/dev/disk/by-id/x status=progress',
    'cat x | sudo dd of=/dev/nvme0n1',
    'dd if=x "of=/dev/sda"',
    'dd if=x of=/dev/$disk',
    'dd if=x of=//dev/sda',
    'dd if=x of=/dev/sd{a,b}',
    'dd if=x of=/dev/shm/../sda',
    'dd if=x of=/dev/mem',
  ],
};

const ALLOWED = [
  'rm -rf /tmp/build',
  'rm -rf ./x',
  'rm -rf .',
  'rm -rf *',
  'rm -rf /srv/x/*',
  'rm -rf "/*"',
  'rm -rf "$x"/',
  'rm -f /',
  'rm -rf',
  'rm /tmp/x -- -r /',
  'rmdir /',
  'echo "rm -rf /"',
  'echo rm -rf /',
  `grep 'rm -rf /' f`,
  '# rm -rf /',
  'ls # rm -rf /',
  'cat <<E\nrm -rf /\nE',
  `cat > clean.sh <<'E'\nrm -rf /\nE`,
  'git commit -m "rm -rf /"',
  `bash -c 'echo "rm -rf /"'`,
  'bash clean.sh <<E\nrm -rf /\nE',
  'command -v rm -rf /',
  'dd if=a of=b',
  'dd if=/dev/zero of=/dev/null bs=1M count=1',
  'dd if=/dev/urandom of=/dev/shm/x',
  'dd if=/dev/sda of=disk.img',
  'echo dd if=x of=/dev/sda',
  'make > /dev/null 2>&1',
  'echo x > /dev/stderr',
  'echo x > /dev/tty',
  'echo x > /dev/sdaily',
  'echo "> /dev/sda"',
  'cat < /dev/sda',
  'ls /dev/sda',
  'rm -rf /**/x',
  'rm -rf /srv/[a-z]*',
  'rm -rf "/*"*',
  'rm -rf /\\**',
  'rm -rf /@(srv|tmp)',
  'rm -rf /{srv,tmp}/x',
  'rm -rf "{/,x}"',
  'rm -rf \\{/,x}',
  'rm -rf {1..3}/',
  `env -S 'echo rm -rf /'`,
  `su -c 'echo "rm -rf /"'`,
  'su rm -rf /',
  'flock f echo rm -rf /',
  'flock rm -rf /',
  'strace echo rm -rf /',
  'chroot rm echo -rf /',
  ': > /dev/mapper/control',
  ': > /dev/model',
  ': > dev/sda',
  './mkfs.sh',
  './mkfs.py --x',
  'scripts/mkfs.sh /dev/sda1',
  '/srv/bin/mkfs.sh x',
  'mkfs.ext4 --help',
  'mkfs.ext4 -V',
  'mkfs.ext4 disk.img',
  'mkfs -t ext4 build/disk.img',
  'mkfs.ext4 -q -L data /tmp/disk.img 64M',
  'sudo mkfs.vfat -n EFI ./dev/esp.img',
  'dd if=x of=/dev/ttyUSB0',
  'dd if=x of=/dev/tty',
  'dd if=x of=/dev/pts/3',
  'dd if=x of=/dev/full',
  'dd if=x of=/dev/zero',
  'dd if=x of=/dev/stdout',
  'dd if=x of=/dev/stderr',
  'dd if=x of=/dev/fd/3',
  'man mkfs.ext4',
  'ls /sbin/mkfs.*',
  'which mkfs.ext4',
  'echo "never closed',
  '',
];

describe('the safety check', () => {
  it('refuses every way of writing rm -rf /', () => {
    for (const command of REFUSED['rm -rf /']) {
      expect(dangerousPattern(command), command).toBe('rm -rf /');
    }
  });

  it('refuses every way of writing rm -rf /*', () => {
    for (const command of REFUSED['rm -rf /*']) {
      expect(dangerousPattern(command), command).toBe('rm -rf /*');
    }
  });

  it('refuses to redirect into a disk', () => {
    for (const command of REFUSED['> /dev/sda']) {
      expect(dangerousPattern(command), command).toBe('> /dev/sda');
    }
  });

  it('refuses to format', () => {
    for (const command of REFUSED['mkfs.']) {
      expect(dangerousPattern(command), command).toBe('mkfs.');
    }
  });

  it('refuses dd onto a device', () => {
    for (const command of REFUSED['dd if=.* of=/dev/']) {
      expect(dangerousPattern(command), command).toBe('dd if=.* of=/dev/');
    }
  });

  it('is a built-in rule of every policy, also of one that allows everything', () => {
    const judged = judgement({ default: 'allow' });
    const all = Object.values(REFUSED).flat();
    const other = all.filter((command) => {
      const { verdict, reasons } = judged.decide(command, PROJECT);
      return verdict !== 'deny' || !reasons.some(({ code }) => code === 'builtin.dangerous');
    });
    // A disk is also a protected file, which is said first where it is known to be written.
    expect(other.filter((command) => judged.decide(command, PROJECT).verdict !== 'deny')).toEqual(
      [],
    );
    expect(other.filter((command) => !/dev|mkfs/.test(command))).toEqual([]);
  });

  it.each(ALLOWED)('allows %j', (command) => {
    expect(dangerousPattern(command)).toBeUndefined();
  });

  it('says of itself that it is no boundary', () => {
    const source = readFileSync(new URL('../../src/policy/safety.ts', import.meta.url), 'utf8');
    expect(source.replaceAll('\n// ', ' ')).toContain('defence in depth and no security boundary');
  });

  const dangerous = fc.constantFrom(
    ...Object.values(REFUSED)
      .flat()
      .filter((command) => !/[)(]|<<|never|fi;/.test(command)),
  );
  const around: readonly ((command: string) => string)[] = [
    (command) => `ls; ${command}`,
    (command) => `ls && ${command.replace(/&$/, '')} || true`,
    (command) => `( ${command}\n)`,
    (command) => `while ! true; do\n${command}\ndone | cat`,
    (command) => `echo "$( ${command}\n)"`,
    (command) => `bash -c ${quoted(command)}`,
    (command) => `eval ${quoted(command)}`,
  ];

  it('is not misled by what stands around it', () => {
    const layers = fc.array(fc.constantFrom(...around), { maxLength: 3 });
    fc.assert(
      fc.property(dangerous, layers, (command, outside) => {
        const text = outside.reduce((inner, layer) => layer(inner), command);
        expect(dangerousPattern(text), text).toBe(dangerousPattern(command));
      }),
    );
  });

  it('is not alarmed by words that are only said', () => {
    fc.assert(
      fc.property(dangerous, fc.boolean(), (command, asDocument) => {
        const text = asDocument
          ? `cat <<'END'\n${command}\nEND`
          : `echo ${quoted(command)} # ${command.replaceAll('\n', ' ')}`;
        expect(dangerousPattern(text), text).toBeUndefined();
      }),
    );
  });

  it('judges any text without an exception', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        dangerousPattern(text);
      }),
    );
    for (const text of [';'.repeat(100_000), '\n'.repeat(100_000), ')rm '.repeat(30_000)]) {
      expect(dangerousPattern(text)).toBeUndefined();
    }
  });
});

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
