// Settings of a project that a person trusts, and that change, while a server follows them.
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { Services } from '../../src/host/plugin.ts';
import { FACT_MS_MAX } from '../pace.ts';
import { trusted } from '../trust.ts';
import { fixture } from './fixture.ts';
import { Watched, yaml } from './watched.ts';

let watched: Watched;
/** What the plugin is told, at its last reload and now. */
let lent: Services;
let waitedAtReload: boolean | undefined;

beforeEach(() => {
  const plugin = fixture({
    construct: (_, services) => {
      lent = services;
    },
    onConfigReload: (config, self) => {
      waitedAtReload = lent.settingsWait?.();
      self.config = config;
    },
  });
  watched = new Watched(plugin);
  watched.project.env.XDG_CONFIG_HOME = watched.project.path('config');
  onTestFinished(() => watched.close());
});

function write(n: number): void {
  watched.project.write('settings.yml', yaml(n));
}

function trust(): void {
  trusted(watched.project.directory, watched.project.env);
}

it('are taken when they are trusted, and an edit waits without undoing them', async () => {
  write(1);
  trust();
  await watched.start({ trusted: false });
  expect(await watched.seen()).toBe(1);
  write(2);
  await watched.complains(/settings\.yml wait .*it has changed .* What was trusted stays in force/);
  expect(await watched.seen()).toBe(1);
  trust();
  await watched.sees(2);
  expect(await watched.problem()).toBeNull();
});

it('that were never trusted are named, and nothing is wrong', async () => {
  watched.project.write('config/cuff/settings.yml', yaml(7));
  await watched.start({ trusted: false });
  expect(await watched.seen()).toBe(7);
  expect(watched.host.notices()).toEqual([]);
  write(1);
  watched.project.write('config/cuff/settings.yml', yaml(8));
  await watched.sees(8);
  const { healthy, notices, settings } = await watched.host.health();
  expect([healthy, settings.file, settings.waiting]).toEqual([
    true,
    watched.project.path('config/cuff/settings.yml'),
    [{ file: 'settings.yml', keys: ['plugins.p', 'plugins.config', 'plugins.n'] }],
  ]);
  expect(notices).toEqual(watched.host.notices());
  trust();
  await watched.sees(1);
  expect(watched.host.notices()).toEqual([]);
});

it('are waited for, as plugins see it, until every plugin has taken them', async () => {
  write(1);
  trust();
  await watched.start({ trusted: false });
  expect(lent.settingsWait?.()).toBe(false);
  write(2);
  await watched.complains(/it has changed/);
  expect(lent.settingsWait?.()).toBe(true);
  trust();
  await watched.sees(2);
  expect(waitedAtReload).toBe(true);
  await expect.poll(() => lent.settingsWait?.(), { timeout: FACT_MS_MAX }).toBe(false);
});
