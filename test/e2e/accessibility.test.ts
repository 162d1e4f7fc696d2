import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { violations } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds nothing on the screens of the main job, in the ${colorScheme} theme`, async () => {
    await using service = await startBuiltService({ as: 'local' })
    await using browser = await launchChromium()
    // The page's own policy lets no foreign script in; the checker is one.
    const page = await browser.newPage({
      viewport: { width: 1440, height: 900 },
      colorScheme,
      bypassCSP: true,
      reducedMotion: 'reduce',
    })
    page.setDefaultTimeout(20_000)
    await page.goto(service.url)
    await page.getByRole('button', { name: /demo project/i }).waitFor()
    expect(await violations(page), 'first run').toEqual([])
    await page.getByRole('button', { name: /demo project/i }).click()
    const card = page.locator('[data-card]').filter({ hasText: 'Greet whoever is named' })
    await card.waitFor()
    expect(await violations(page), 'board').toEqual([])
    await page.getByRole('region', { name: /^Done/ }).locator('[data-card]').waitFor()
    await page.keyboard.press('c')
    await page.getByRole('dialog').waitFor()
    expect(await violations(page), 'new task').toEqual([])
    await page.keyboard.press('Escape')
    for (const [keys, name] of [
      ['Control+k', 'Command palette'],
      ['?', 'Keyboard shortcuts'],
      ['Shift+F', 'Filter'],
    ] as const) {
      await page.keyboard.press(keys)
      await page.getByRole('dialog', { name }).waitFor()
      expect(await violations(page), name).toEqual([])
      await page.keyboard.press('Escape')
    }
    await card.focus()
    await page.keyboard.press('.')
    await page.getByRole('menu').waitFor()
    expect(await violations(page), 'card menu').toEqual([])
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+b')
    await page.getByRole('table').waitFor()
    expect(await violations(page), 'list').toEqual([])
    await page.keyboard.press('Control+b')
    await page.getByRole('navigation', { name: 'Main' }).getByText('All projects').click()
    await card.waitFor()
    expect(await violations(page), 'all projects').toEqual([])
    await page.goBack()
    await card.click()
    for (const tab of ['Overview', 'Agent', 'Changes', 'Review', 'Activity', 'Hooks', 'Workspace']) {
      await page.getByRole('tab', { name: new RegExp(`^${tab}`) }).click()
      await page.getByRole('tabpanel').first().waitFor()
      expect(await violations(page), tab).toEqual([])
    }
    await page.getByRole('navigation', { name: 'Main' }).getByText('Settings').click()
    await page.getByRole('navigation', { name: 'Settings' }).waitFor()
    expect(await violations(page), 'settings').toEqual([])
    await page.getByRole('navigation', { name: 'Settings' }).getByText('Storage').click()
    await page.getByText('None. Every worktree on the disk has its task.').waitFor()
    expect(await violations(page), 'storage').toEqual([])
    await page.getByRole('navigation', { name: 'Settings' }).getByText('Hooks').click()
    await page.getByRole('heading', { name: 'Before work' }).waitFor()
    expect(await violations(page), 'hooks').toEqual([])
  })
}
