// What a command printed is text, whatever it looks like, on every page that shows it.
import { describe, expect, it } from 'vitest';
import { lacking } from '../requirements.ts';
import { filledDesk, goTo, noBrowser } from './browser.ts';

describe.skipIf(lacking(noBrowser, 'there is no chromium here'))('hostile output', () => {
  const { desk, store } = filledDesk(100);

  it('is text in a log, with colours and without', async () => {
    const { page } = await desk.visit();
    await goTo(page, `#/r/${store().runs.hostile}?view=log`);
    await page.getByText('<img src=x onerror="window.owned=1">').waitFor();
    const lines = () => page.locator('.log-text').allInnerTexts();
    expect((await lines()).slice(0, 10)).toEqual([
      '<img src=x onerror="window.owned=1">',
      '<script>window.owned=2</script>',
      'click me',
      'after the clipboard',
      'nul:␀:nul',
      'user⟨U+202E⟩gnp.exe',
      'zero⟨U+200B⟩width',
      'red on blue',
      expect.stringMatching(/^half .+ bytes$/),
      'javascript:window.owned=3',
    ]);
    await page.getByText('… a line of 1.0 MB, cut here').waitFor();
    expect((await lines())[10]).toMatch(/^x{8192} … a line of 1\.0 MB, cut here$/);
    await page.keyboard.press('a');
    await page.getByText('␛]8;;https://evil.example/␛\\click me␛]8;;␛\\').waitFor();
    expect(await page.locator('.log-text a, .log-text img, .log-text script').count()).toBe(0);
    expect(await page.evaluate('window.owned')).toBeUndefined();
  });

  it('is text in a block and in search', async () => {
    const { page } = await desk.visit();
    await goTo(page, `#/s/${store().session}?cmd=6`);
    await page.locator('#cmd-6 .output').getByText('<script>window.owned=2</script>').waitFor();
    expect(await page.locator('#cmd-6 .output a, #cmd-6 .output img').count()).toBe(0);
    await goTo(page, '#/search?q=onerror');
    await page.locator('.hit pre').first().getByText('<img src=x').waitFor();
    expect(await page.locator('.hit img').count()).toBe(0);
    expect(await page.evaluate('window.owned')).toBeUndefined();
  });

  it('opens no link, sets no title and asks for nothing in the player', async () => {
    const { page, context } = await desk.visit();
    await goTo(page, `#/r/${store().runs.hostile}?view=player&t=999999999`);
    await page.getByRole('button', { name: 'Play' }).waitFor();
    await page.locator('.xterm-rows').getByText('x'.repeat(40)).first().waitFor();
    expect(await page.title()).not.toContain('a title');
    expect(context.pages()).toHaveLength(1);
    expect(await page.evaluate('window.owned')).toBeUndefined();
  });
});
