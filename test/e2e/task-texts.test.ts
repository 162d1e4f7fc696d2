import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Pastes or drops a file like a browser. */
const give = (field: Locator, how: 'paste' | 'drop', name: string, base64: string) =>
  field.evaluate(
    (element, given) => {
      const data = new DataTransfer()
      const bytes = Uint8Array.from(atob(given.base64), (one) => one.charCodeAt(0))
      data.items.add(new File([bytes], given.name))
      const about = { bubbles: true, cancelable: true }
      element.dispatchEvent(
        given.how === 'paste'
          ? new ClipboardEvent('paste', { ...about, clipboardData: data })
          : new DragEvent('drop', { ...about, dataTransfer: data }),
      )
    },
    { how, name, base64 },
  )
const widthOf = (image: Locator) => image.evaluate((one) => (one as HTMLImageElement).naturalWidth)
const shot = async (page: Page, name: string) => {
  if (process.env['COPSE_SHOTS']) await page.screenshot({ path: `${process.env['COPSE_SHOTS']}/${name}.png` })
}

test('writes a description with pictures, paths and marks, previews and shows it', async () => {
  await using repository = await createTestRepository({ files: { 'src/ferry.ts': 'x', 'docs/ferry.md': 'x' } })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(checkedPage), service)
  const project = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  await page.reload()
  await page.getByRole('region', { name: /^To do, / }).waitFor()
  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog', { name: 'New task' })
  await dialog.getByLabel('Title').fill('Paint the ferry')
  const field = dialog.getByRole('textbox', { name: 'Description' })

  // A path after an @, by arrows and Enter; Escape closes the list and not the dialog.
  await field.pressSequentially('Look at @fer')
  const paths = dialog.getByRole('listbox', { name: 'Paths' })
  await paths.getByRole('option').nth(1).waitFor()
  expect(await violationsInThemes(page), 'paths').toEqual([])
  await shot(page, 'paths')
  await page.keyboard.press('Escape')
  await paths.waitFor({ state: 'detached' })
  await field.pressSequentially('r')
  await paths.waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect.poll(() => field.inputValue()).toBe('Look at `docs/ferry.md` ')

  // Formatting by keys, which the page ignores then, and by the toolbar.
  await field.pressSequentially('now')
  await field.evaluate((one) => (one as HTMLTextAreaElement).setSelectionRange(24, 27))
  await page.keyboard.press('Control+b')
  await expect.poll(() => field.inputValue()).toBe('Look at `docs/ferry.md` **now**')
  await page.keyboard.press('End')
  await page.keyboard.press('Control+k')
  await expect.poll(() => field.inputValue()).toMatch(/\[\]\(url\)$/)
  await page.keyboard.press('Control+z')
  await field.fill('Look at `docs/ferry.md` **now**\nhull')
  await dialog.getByRole('button', { name: 'Checklist' }).click()
  await expect.poll(() => field.inputValue()).toMatch(/\n- \[ \] hull$/)

  // One pasted, one dropped.
  await field.press('Enter')
  await field.press('Enter')
  await give(field, 'paste', 'shot.png', png)
  await expect.poll(() => field.inputValue()).toMatch(/!\[shot\.png\]\(attachment:[0-9a-f-]{36}\)$/)
  await give(field, 'drop', 'server.log', btoa('boom'))
  await expect.poll(() => field.inputValue()).toMatch(/\n\[server\.log\]\(attachment:[0-9a-f-]{36}\)$/)
  await dialog.getByRole('button', { name: 'Preview', exact: true }).click()
  const preview = dialog.getByRole('region', { name: 'Preview: Description' })
  await expect.poll(() => widthOf(preview.getByRole('img', { name: 'shot.png' }))).toBe(1)
  expect(await preview.locator('strong').textContent()).toBe('now')
  expect(await violationsInThemes(page), 'preview').toEqual([])
  await shot(page, 'preview')
  await dialog.getByRole('button', { name: 'Write' }).click()
  await shot(page, 'write')
  await page.keyboard.press('Control+Enter')
  await dialog.waitFor({ state: 'detached' })

  const [task] = (await client.call('tasks.list', { project_id: project.id })).items
  const { items } = await client.call('attachments.list', { task_id: task?.id ?? '' })
  expect(items.map(({ name, media_type }) => [name, media_type])).toEqual([
    ['shot.png', 'image/png'],
    ['server.log', 'text/plain'],
  ])

  // The task shows them, and so does a comment; the saved text is unchanged.
  await page.keyboard.press('Enter')
  const panel = page.getByRole('region', { name: 'Description' })
  await expect.poll(() => widthOf(panel.getByRole('img', { name: 'shot.png' }).first())).toBe(1)
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    panel.getByRole('link', { name: 'server.log' }).click(),
  ])
  expect(saved.suggestedFilename()).toBe('server.log')
  const comment = panel.getByRole('textbox', { name: 'Comment' })
  await comment.fill('Like this: ')
  await give(comment, 'paste', 'other.png', png)
  await expect.poll(() => comment.inputValue()).toContain('attachment:')
  await page.keyboard.press('Control+Enter')
  await expect.poll(() => widthOf(page.getByRole('article').getByRole('img', { name: 'other.png' }))).toBe(1)
  const files = panel.getByRole('region', { name: 'Files' })
  await files.getByRole('button', { name: 'Save other.png' }).waitFor()
  expect(await violationsInThemes(page), 'task').toEqual([])
  await shot(page, 'task')
  await files.getByRole('button', { name: 'Delete…' }).first().click()
  await files.getByRole('button', { name: 'Delete file' }).click()
  await expect.poll(() => files.getByRole('listitem').count()).toBe(2)
  await page.reload()
  await panel.getByText('Missing: shot.png').waitFor()

  // An existing description is edited in the same way.
  await page.keyboard.press('e')
  const edited = panel.getByRole('textbox', { name: 'Description' })
  await give(edited, 'paste', 'third.png', png)
  await expect.poll(() => edited.inputValue()).toMatch(/third\.png\]\(attachment:/)
  await page.keyboard.press('Control+Enter')
  await expect.poll(() => widthOf(panel.getByRole('img', { name: 'third.png' }))).toBe(1)
})
