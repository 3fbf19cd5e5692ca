// Every page on a store of real commands: it shows what the command line says, is reached again by
// its link, and has no serious fault of accessibility, light and dark.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { cuff, type FilledStore } from '../../scripts/ui-store.mjs';
import { lacking } from '../requirements.ts';
import { at, emptyDesk, filledDesk, goTo, noBrowser } from './browser.ts';

type Shown = { readonly link: string; readonly ready: string };

const PAGES: Readonly<Record<string, (store: FilledStore) => Shown>> = {
  sessions: () => ({ link: '#/', ready: '.grid-row .mark' }),
  session: ({ session }) => ({ link: `#/s/${session}?cmd=2`, ready: '.block.current .output' }),
  log: ({ runs }) => ({ link: `#/r/${runs.colours}?view=log&line=2`, ready: '.target .log-text' }),
  player: ({ runs }) => ({ link: `#/r/${runs.terminal}?view=player`, ready: '.xterm-rows' }),
  processes: ({ runs }) => ({
    link: `#/r/${runs.traced}?view=processes&process=2`,
    ready: '.chosen .facts',
  }),
  facts: ({ runs }) => ({ link: `#/r/${runs.colours}?view=facts`, ready: '.facts' }),
  proof: ({ runs }) => ({ link: `#/r/${runs.colours}?view=proof`, ready: '[aria-label="Proof"]' }),
  search: () => ({ link: '#/search?q=voucher', ready: '.hit mark' }),
  live: () => ({ link: '#/live', ready: '.empty' }),
  activity: () => ({ link: '#/activity', ready: '.plot canvas' }),
  policy: () => ({ link: '#/policy', ready: '.question button' }),
  verify: () => ({ link: '#/verify', ready: '.sentence' }),
  health: () => ({ link: '#/health', ready: '.panel .facts' }),
};

describe.skipIf(lacking(noBrowser, 'there is no chromium here'))('a page', () => {
  const { desk, store } = filledDesk(2_000);

  it.for(Object.keys(PAGES))(
    '%s comes back by its link, and can be used by everybody',
    async (name) => {
      const shown = PAGES[name]?.(store());
      if (shown === undefined) throw new Error(name);
      const { page, context } = await desk.visit();
      await goTo(page, shown.link);
      await page.waitForSelector(shown.ready);
      const again = await desk.open(context, `${desk.ui.origin}/${shown.link}`);
      await again.waitForSelector(shown.ready);
      expect(new URL(again.url()).hash).toBe(shown.link);
      desk.silent();
      for (const colorScheme of ['light', 'dark'] as const) {
        await again.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        expect(await faults(again), colorScheme).toEqual([]);
      }
    },
  );

  it('says the numbers that the command line says', async () => {
    const { sessions } = JSON.parse(
      cuff(store(), ['record', 'list', '--json', '--limit', '100']).stdout,
    );
    const { page } = await desk.visit();
    await page.getByText(`${sessions.length} sessions`).waitFor();

    const { session, runs } = store();
    const { entries } = JSON.parse(
      cuff(store(), ['record', 'show', session, '--entries', '--json']).stdout,
    );
    await goTo(page, `#/s/${session}`);
    await page.waitForSelector(`#cmd-${entries.length}`);
    const ends = await page.locator('.block-command .mark').allInnerTexts();
    const said = (code: number) => `${code === 0 ? '✓' : '✗'} exit ${code}`;
    expect(ends).toEqual(entries.map((one: { exit_code: number }) => said(one.exit_code)));

    await goTo(page, `#/r/${runs.log}?view=facts`);
    const listed = JSON.parse(cuff(store(), ['ls', '--json']).stdout);
    const run = listed.sessions.find((one: { session_id: string }) => one.session_id === runs.log);
    await page
      .getByText(`${run.output_bytes.toLocaleString('en-US')} bytes, 2,000 lines`)
      .waitFor();

    await goTo(page, '#/verify');
    const words = cuff(store(), ['verify']).stdout.split('\n')[0] ?? '';
    await page.getByText(words, { exact: false }).first().waitFor();
  });

  it('of the sessions filters while one types, and keeps the filter in its link', async () => {
    const { page } = await desk.visit();
    await page.waitForSelector('.grid-row .mark');
    await page.keyboard.press('/');
    await page.waitForSelector('#session-filter:focus');
    await page.keyboard.type('codex', { delay: 200 }); // each letter is asked for by itself
    await at(page, /^#\/\?q=codex$/);
    await page.getByText('1 session', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await at(page, /^#\/$/);
  });

  it('of a process shows what it was, and only what it wrote', async () => {
    const { page } = await desk.visit();
    await goTo(page, `#/r/${store().runs.traced}?view=processes`);
    await page.getByRole('button', { name: 'cat a.c' }).first().click();
    await page.waitForSelector('.chosen .output, .chosen .quiet');
    await page.getByRole('button', { name: 'Only the 1 failed' }).click();
    await page.getByRole('button', { name: 'ls missing-library.so' }).click();
    await page.locator('.chosen').getByText('cannot access').waitFor();
  });

  it('of a proof makes one that the command line accepts', async () => {
    const { page } = await desk.visit();
    await goTo(page, `#/r/${store().runs.colours}?view=proof`);
    await page.getByRole('button', { name: 'Make the proof' }).click();
    const proof = await page.locator('.code-block').innerText();
    const file = join(desk.root, 'made.proof');
    writeFileSync(file, proof);
    const verified = cuff(store(), ['verify', file]);
    expect([verified.code, verified.stdout]).toEqual([
      0,
      expect.stringContaining('  facts, text: shown, and as sealed\n'),
    ]);
  });

  it('is one column on a narrow screen, with nothing wider than it', async () => {
    const { page } = await desk.visit({ width: 390, height: 760 });
    for (const shown of Object.values(PAGES)) {
      const { link, ready } = shown(store());
      await goTo(page, link);
      await page.waitForSelector(ready);
      const wide = await page.evaluate(`document.documentElement.scrollWidth`);
      expect({ link, wide }).toEqual({ link, wide: 390 });
    }
  });

  // Last: it has a server of its own, and afterwards no question waits.
  it('of the policy lets a person answer a question, and tries a command', async () => {
    await desk.ui.stop();
    await desk.restart(store(), true);
    const { page } = await desk.visit();
    await goTo(page, '#/policy');
    await page.getByLabel('A command to judge').fill('git push --force origin main');
    await page.getByRole('button', { name: 'Why?' }).click();
    await page.getByText('⊘ deny').waitFor();
    await page.getByRole('button', { name: 'What if?' }).click();
    await page.getByText('Not allowed').waitFor();
    expect(await page.title()).toMatch(/^\(1\) /);
    await page.getByRole('button', { name: 'Once' }).click();
    await page.getByText('No question waits for an answer.').waitFor();
    expect(await page.title()).not.toMatch(/^\(/);
    expect(cuff(store(), ['policy', 'approve']).stdout).toContain('Nothing waits');
  });
});

describe.skipIf(lacking(noBrowser, 'there is no chromium here'))(
  'where nothing is recorded',
  () => {
    const { desk } = emptyDesk();

    it.for([
      ['#/', 'Nothing is recorded yet.'],
      ['#/search', 'Search everything that was recorded.'],
      ['#/live', 'Nothing runs now.'],
      ['#/activity', 'No command in this time.'],
      ['#/policy', 'No policy is in force: a draft'],
      ['#/verify', 'Nothing is sealed yet.'],
      ['#/health', 'None runs now.'],
    ] as const)('%s says what to do first', async ([link, words]) => {
      const { page } = await desk.visit();
      await goTo(page, link);
      await page.getByText(words).waitFor();
      desk.silent();
      expect(await faults(page)).toEqual([]);
    });

    it('a run and a session that are not there are said to be so', async () => {
      const { page } = await desk.visit();
      await goTo(page, '#/r/none');
      await page.getByRole('alert').waitFor();
      await goTo(page, '#/s/none');
      await page.getByRole('alert').waitFor();
    });
  },
);

/** What axe calls serious or critical, in few words. */
async function faults(page: Page): Promise<string[]> {
  await page.evaluate(`${axe.source};0`); // its value would be axe itself
  const { violations } = await page.evaluate<axe.AxeResults>(
    `axe.run(document, { resultTypes: ['violations'] })`,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
    );
}
