// Settings that change on disk while a host runs, in all the ways that editors and tools do it.
import {
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Watched, yaml } from './watched.ts';

let watched: Watched;
beforeEach(() => {
  watched = new Watched();
});
afterEach(() => watched.close());

const write = (name: string, text: string) => watched.project.write(name, text);
const path = (name: string) => watched.project.path(name);

describe('new settings are taken when the file is', () => {
  beforeEach(async () => {
    write('settings.yml', yaml(1));
    await watched.start();
    expect(await watched.seen()).toBe(1);
  });

  it('written in place', async () => {
    for (const n of [2, 3, 4]) {
      write('settings.yml', yaml(n));
      await watched.sees(n);
    }
    expect(watched.plugin.events.filter((event) => event === 'construct')).toHaveLength(1);
  });

  it('replaced by a rename, again and again', async () => {
    for (const n of [2, 3, 4]) {
      write('settings.yml.tmp', yaml(n));
      renameSync(path('settings.yml.tmp'), path('settings.yml'));
      await watched.sees(n);
    }
  });

  it('moved away and written anew, as vim does', async () => {
    for (const n of [2, 3]) {
      renameSync(path('settings.yml'), path('settings.yml~'));
      write('settings.yml', yaml(n));
      unlinkSync(path('settings.yml~'));
      await watched.sees(n);
    }
  });

  it('removed, and there again later', async () => {
    unlinkSync(path('settings.yml'));
    await watched.complains(/settings.yml is gone; what it said stays in force until it is back$/);
    expect(await watched.seen()).toBe(1);
    write('settings.yml', yaml(2));
    await watched.sees(2);
    expect(await watched.problem()).toBeNull();
  });

  it('there in a place that comes before', async () => {
    unlinkSync(path('settings.yml'));
    write('.cuff/settings.yml', yaml(2));
    await watched.complains(/is gone/);
    write('settings.yml', yaml(3));
    await watched.sees(3);
  });

  it('told of in the log', async () => {
    write('settings.yml', yaml(2));
    await watched.sees(2);
    expect(watched.log).toEqual([
      { level: 'info', message: 'Settings taken', file: path('settings.yml') },
    ]);
  });
});

describe('new settings are found when', () => {
  it('there was no file at first', async () => {
    watched.project.env.XDG_CONFIG_HOME = path('xdg');
    mkdirSync(path('.cuff'));
    await watched.start({ pollMs: 10 });
    expect(await watched.seen()).toBe('Unknown tool: p_echo');
    write('xdg/cuff/settings.yml', yaml(1));
    await watched.sees(1);
    write('.cuff/settings.yml', yaml(2));
    await watched.sees(2);
    write('settings.yml', yaml(3));
    await watched.sees(3);
  });

  it('the file changed before it was watched', async () => {
    write('settings.yml', yaml(1));
    await watched.start({ meanwhile: () => write('settings.yml', yaml(2)) });
    await watched.sees(2);
  });

  it('the file is a link, and the link is replaced', async () => {
    write('one.yml', yaml(1));
    write('two.yml', yaml(2));
    symlinkSync('one.yml', path('settings.yml'));
    await watched.start();
    symlinkSync('two.yml', path('next'));
    renameSync(path('next'), path('settings.yml'));
    await watched.sees(2);
  });

  it('the file is a link into another directory, and changes there', async () => {
    write('elsewhere/real.yml', yaml(1));
    symlinkSync('elsewhere/real.yml', path('settings.yml'));
    await watched.start();
    write('elsewhere/real.yml', yaml(2));
    await watched.sees(2);
    write('elsewhere/tmp', yaml(3));
    renameSync(path('elsewhere/tmp'), path('elsewhere/real.yml'));
    await watched.sees(3);
  });

  it('the file is mounted by Kubernetes: a link through ..data, which is swapped', async () => {
    write('mount/..2026_01/settings.yml', yaml(1));
    symlinkSync('..2026_01', path('mount/..data'));
    symlinkSync('..data/settings.yml', path('mount/settings.yml'));
    symlinkSync('mount/settings.yml', path('settings.yml'));
    await watched.start();
    for (const n of [2, 3]) {
      write(`mount/..2026_0${n}/settings.yml`, yaml(n));
      symlinkSync(`..2026_0${n}`, path('mount/..data_tmp'));
      renameSync(path('mount/..data_tmp'), path('mount/..data'));
      rmSync(path(`mount/..2026_0${n - 1}`), { recursive: true });
      await watched.sees(n);
    }
  });

  it('the directory itself is replaced, by the slow look', async () => {
    write('.cuff/settings.yml', yaml(1));
    await watched.start({ pollMs: 10 });
    for (const n of [2, 3]) {
      write(`next${n}/settings.yml`, yaml(n));
      renameSync(path('.cuff'), path(`old${n}`));
      renameSync(path(`next${n}`), path('.cuff'));
      await watched.sees(n);
    }
    // The new directory is watched as the first one was.
    write('.cuff/settings.yml', yaml(4));
    await watched.sees(4);
  });

  it('the file is written slowly, and only then', async () => {
    write('settings.yml', yaml(1));
    // Longer than this process ever has to wait for its turn between two characters.
    await watched.start({ settleMs: 5_000 });
    const text = `# ${'x'.repeat(100)}\n${yaml(2)}`;
    const fd = openSync(path('settings.yml'), 'w');
    for (const character of text) {
      writeSync(fd, character);
      await new Promise((resolve) => setTimeout(resolve, 1));
      expect([await watched.seen(), await watched.problem()]).toEqual([1, null]);
    }
    closeSync(fd);
    await watched.sees(2);
  });
});

describe('settings that are wrong', () => {
  beforeEach(async () => {
    write('settings.yml', yaml(1));
    await watched.start();
  });

  it('leave the old ones in force and show in health, until they are right', async () => {
    write('settings.yml', 'plugns: {}\n');
    await watched.complains(/^.*settings.yml:1:1: unknown key 'plugns'; did you mean 'plugins'\?$/);
    expect(await watched.seen()).toBe(1);
    expect((await watched.host.health()).healthy).toBe(false);
    expect(watched.plugin.events).not.toContain('onConfigReload');
    write('settings.yml', yaml(2));
    await watched.sees(2);
    expect((await watched.host.health()).healthy).toBe(true);
  });

  it('are forgotten when the old ones come back', async () => {
    write('settings.yml', ': [');
    await watched.complains(/settings.yml:1:/);
    write('settings.yml', yaml(1));
    await watched.complains(/^$/);
    expect(watched.plugin.events).not.toContain('onConfigReload');
  });

  it('say all that is wrong, one reason each', async () => {
    write('settings.yml', 'a: 1\nb: 2\n');
    await watched.complains(/.\n./);
    const { reasons } = await watched.host.health();
    expect(reasons.map((reason) => reason.replace(/^.*yml:/, ''))).toEqual([
      "1:1: unknown key 'a'; known are plugins, tool_names, ask, seal, captures, encryption",
      "2:1: unknown key 'b'; known are plugins, tool_names, ask, seal, captures, encryption",
    ]);
  });

  it('may be a directory, and be gone again', async () => {
    unlinkSync(path('settings.yml'));
    mkdirSync(path('settings.yml'));
    await watched.complains(/expected a file, found a directory/);
    rmSync(path('settings.yml'), { recursive: true });
    await watched.complains(/is gone/);
    write('settings.yml', yaml(2));
    await watched.sees(2);
  });
});
