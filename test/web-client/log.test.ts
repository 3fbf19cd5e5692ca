// A long log in a browser: only what is looked at exists and is fetched, and every way through it
// leads where it says.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { cuff } from '../../scripts/ui-store.mjs';
import { lacking } from '../requirements.ts';
import { at, filledDesk, goTo, noBrowser } from './browser.ts';

const LINES = 100_000;

describe.skipIf(lacking(noBrowser, 'there is no chromium here'))('a log of 100,000 lines', () => {
  const { desk, store } = filledDesk(LINES);

  const opened = async (more = ''): Promise<Page> => {
    const { page } = await desk.visit();
    await goTo(page, `#/r/${store().runs.log}?view=log${more}`);
    await page.waitForSelector('.log-text:not(:empty)');
    return page;
  };

  /** The true lines, as another program reads them. */
  const truth = (): string[] => cuff(store(), ['cat', store().runs.log]).stdout.split('\n');

  it('has the lines that are there, at the numbers they have, and few elements', async () => {
    const page = await opened('&line=54321');
    await page.waitForSelector('.target .log-text:not(:empty)');
    const shown = await page
      .locator('.log-line')
      .evaluateAll((all) =>
        all.map((one) => [
          Number(one.getAttribute('data-line')),
          one.querySelector('.log-text')?.textContent ?? '',
        ]),
      );
    const lines = truth();
    expect(shown.length).toBeGreaterThan(10);
    for (const [number, text] of shown) expect(text).toBe(lines[Number(number) - 1]);
    expect(await page.locator('main *').count()).toBeLessThan(1_500);
    await page.getByText('100,000 lines', { exact: true }).waitFor();
  });

  it('goes to its end and back to its start by keys', async () => {
    const page = await opened();
    await page.keyboard.press('End');
    await page.locator(`[data-line="${LINES}"] .log-text:not(:empty)`).waitFor();
    const last = await page.locator(`[data-line="${LINES}"] .log-text`).innerText();
    expect(last).toBe(truth()[LINES - 1]);
    await page.keyboard.press('Home');
    await page.locator('[data-line="1"] .log-text:not(:empty)').waitFor();
  });

  it('finds, counts, and steps through what it found', async () => {
    const page = await opened();
    await page.keyboard.press('/');
    await page.keyboard.type('module 777');
    const lines = truth();
    const where = lines.flatMap((line, index) => (line.includes('module 777') ? [index + 1] : []));
    await page.getByText(`${where.length} found`, { exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await at(page, new RegExp(`line=${where[0]}$`));
    await page.locator(`[data-line="${where[0]}"] mark`).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('n');
    await at(page, new RegExp(`line=${where[1]}$`));
    await page.keyboard.press('N');
    await at(page, new RegExp(`line=${where[0]}$`));
  });

  it('leads to the next line that says an error, and to the one before', async () => {
    const page = await opened();
    const errors = truth().flatMap((line, index) => (/^error:/.test(line) ? [index + 1] : []));
    expect(errors).toHaveLength(100);
    await page.keyboard.press('e');
    await at(page, new RegExp(`line=${errors[0]}$`));
    await page.locator('.target').getByText('error: line 1000 failed').waitFor();
    await page.keyboard.press('e');
    await at(page, new RegExp(`line=${errors[1]}$`));
    await page.keyboard.press('E');
    await at(page, new RegExp(`line=${errors[0]}$`));
  });

  it('shows times, folds what is alike, and wraps', async () => {
    const page = await opened();
    await page.keyboard.press('t');
    await page
      .locator('.log-time')
      .first()
      .filter({ hasText: /^0:\d\d\.\d{3}$/ })
      .waitFor();
    await page.keyboard.press('o');
    await page
      .getByText(/^… \d+,?\d* lines like it$/)
      .first()
      .waitFor();
    await page.keyboard.press('o');
    await page.locator('[data-line="3"]').waitFor();
    await page.keyboard.press('w');
    await page.waitForSelector('.log.wrapped .log-text:not(:empty)');
  });

  it('of many megabytes is opened by ranges, and only some of it is fetched', async () => {
    const bytes = 200_000_000;
    const words = `yes 'one line of a log that is much too long for one answer' | head -c ${bytes}`;
    const args = ['run', '--session-id', 'huge', '--', 'bash', '-c', words];
    expect(cuff(store(), args, { stdio: 'ignore' }).code).toBe(0);
    const size = statSync(join(store().root, 'state/sessions/huge/output.bin')).size;
    const { page } = await desk.visit();
    let fetched = 0;
    page.on('response', async (response) => {
      if (!response.url().includes('/bytes')) return;
      fetched += Number(response.headers()['content-length'] ?? bytes);
    });
    await goTo(page, '#/r/huge?view=log');
    await page.locator('[data-line="1"] .log-text:not(:empty)').waitFor();
    await page.keyboard.press('End');
    expect(size).toBe(bytes);
    const last = Math.ceil(
      size / 'one line of a log that is much too long for one answer\n'.length,
    );
    await page.locator(`[data-line="${last}"] .log-text:not(:empty)`).waitFor();
    await goTo(page, `#/r/huge?view=log&off=${Math.floor(size / 2)}`);
    await at(page, /line=\d+/);
    expect(fetched).toBeLessThan(4_000_000);
  });
});
