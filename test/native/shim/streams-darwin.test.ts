// macOS is compiled, not run: the same sources give an object whose records make dyld put a
// function of ours in the place of each original.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lacking } from '../../requirements.ts';
import { build, has, SHIM_SOURCES, workDir } from './streams-helper.ts';

const noClang = lacking(
  !has('clang') || !has('llvm-readobj') || !has('llvm-objdump'),
  'clang and the LLVM tools are not installed',
);
const FLAGS = '-std=c11 -O2 -Wall -Wextra -Werror -ffreestanding -fvisibility=hidden';
const TARGETS = ['arm64-apple-macos11', 'x86_64-apple-macos11'];

function objectOf(source: string, target: string): string {
  const out = join(workDir, `${source}.${target}.o`);
  const sys = join(SHIM_SOURCES, 'darwin-sys.h');
  const trouble = build(
    `clang --target=${target} ${FLAGS} -include ${sys} -c`,
    join(SHIM_SOURCES, source),
    '-o',
    out,
  );
  expect(trouble).toBeUndefined();
  return out;
}

function output(tool: string, ...words: readonly string[]): string {
  const result = spawnSync(tool, words, { encoding: 'utf8' });
  expect(result.stderr).toBe('');
  return result.stdout;
}

/** What the records of an object point to, in their order: replacement, original, ... */
function recordsOf(object: string): string[] {
  if (!output('llvm-readobj', '--sections', object).includes('__interpose')) return [];
  const lines = output('llvm-objdump', '--reloc', '--section=__interpose', object).split('\n');
  const at = (line: string): number => Number.parseInt(line, 16);
  return lines
    .filter((line) => /^[0-9a-f]{8,16} /.test(line))
    .sort((a, b) => at(a) - at(b))
    .map((line) => line.trim().split(/\s+/).at(-1) ?? '');
}

describe.skipIf(noClang).each(TARGETS)('for %s', (target) => {
  it.each(['writes.c', 'darwin.c', 'stdio.c', 'open.c', 'seccomp.c', 'frame.c', 'text.c'])(
    '%s compiles without a warning',
    (source) => {
      objectOf(source, target);
    },
  );

  it('every hook of writes.c has a record with replacement and original', () => {
    const records = recordsOf(objectOf('writes.c', target));
    const hooks = ['write', 'writev', 'send', 'sendto', 'sendmsg', 'abort', 'raise', 'kill'];
    expect(records).toEqual(hooks.flatMap((name) => [`_hook_${name}`, `_${name}`]));
  });

  it('the linker is told to keep the records', () => {
    const sections = output(
      'llvm-readobj',
      '--sections',
      '--symbols',
      objectOf('writes.c', target),
    );
    expect(sections).toContain('Name: __interpose');
    expect(sections).toMatch(/Name: __interpose[\s\S]*?Segment: __DATA/);
    // `used` becomes N_NO_DEAD_STRIP on each record.
    const kept = sections.match(/Name: _record_\w+ [\s\S]*?Flags \[[^\]]*\]/g) ?? [];
    expect(kept).toHaveLength(8);
    for (const record of kept) expect(record).toMatch(/NoDeadStrip/);
  });

  it('the names that only macOS has are replaced, too', () => {
    const records = recordsOf(objectOf('darwin.c', target));
    expect(records).toEqual(expect.arrayContaining(['_write$NOCANCEL', '_writev$NOCANCEL']));
  });

  it('nothing with a variable number of arguments is replaced', () => {
    const sources = ['writes.c', 'darwin.c', 'stdio.c', 'open.c', 'seccomp.c'];
    const records = sources.flatMap((source) => recordsOf(objectOf(source, target)));
    for (const name of ['fcntl', 'open', 'openat', 'ioctl', 'dprintf', 'prctl', 'syscall']) {
      expect(records).not.toContain(`_${name}`);
    }
  });
});

it('a hook is written once for both systems', () => {
  const source = readFileSync(join(SHIM_SOURCES, 'writes.c'), 'utf8');
  expect(source.match(/^HOOK\(ssize_type, write,/gm)).toHaveLength(1);
  expect(source).not.toContain('__interpose');
});
