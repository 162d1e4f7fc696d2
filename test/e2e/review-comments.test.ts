import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'

const nine = Array.from({ length: 9 }, (_, n) => `line ${n + 1}\n`).join('')

test('keeps a comment that is being written while its line goes, and saves it', async () => {
  await using repository = await createTestRepository({ files: { 'src/add.txt': nine } })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage(checkedPage), service)
  const project = await client.call('projects.create', { name: 'Writing', repo_path: repository.path })
  const command = 'sed -i -e "s/line 3/line 3 now/" -e "s/line 6/line 6 now/" src/add.txt; exec tail -f /dev/null'
  const agent = await client.call('agents.create', { name: 'Writer', executor: 'command', config: { command } })
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Change lines' })
  const { workspace } = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  const path = join(workspace?.path ?? '', 'src/add.txt')
  await expect.poll(() => readFile(path, 'utf8')).toContain('line 6 now')
  await page.reload()
  await openProject('Writing')
  await openTask('Change lines', 'Files')
  await page.keyboard.press('f')
  const differences = panel.getByRole('region', { name: 'Differences' })
  await differences.getByText('line 3 now').click({ button: 'right' })
  await page.getByRole('menuitem', { name: 'Comment on line 3' }).click()
  const box = panel.getByRole('textbox', { name: /^Comment on line 3/ })
  await box.waitFor()
  await page.keyboard.type('Spell it out.')

  await writeFile(path, nine.replace('line 3\n', '').replace('line 6', 'line 6 now'))
  await differences.getByText('line 3 now').waitFor({ state: 'detached' })
  expect(await box.inputValue()).toBe('Spell it out.')
  expect(await box.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true)
  await page.keyboard.press('Control+Enter')
  await box.waitFor({ state: 'detached' })
  const comments = async () => (await client.call('comments.list', { task_id: task.id })).items
  await expect.poll(comments).toMatchObject([{ body: 'Spell it out.', anchor: { path: 'src/add.txt', line: 3 } }])
  await panel.getByRole('article', { name: 'Comment by You' }).getByText('Spell it out.').waitFor()
})

test('keeps a sent comment with the state of its line, and applies a suggestion', async () => {
  await using repository = await createTestRepository({ files: { 'src/add.txt': nine } })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage(checkedPage), service)
  const project = await client.call('projects.create', { name: 'Reviewed', repo_path: repository.path })
  const command =
    'if grep -q now src/add.txt; then sed -i "s/line 3 now/line three/" src/add.txt; git commit -qam Second; ' +
    'else sed -i -e "s/line 3/line 3 now/" -e "s/line 6/line 6 now/" src/add.txt; git commit -qam First; fi; echo done'
  const agent = await client.call('agents.create', { name: 'Writer', executor: 'command', config: { command } })
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Change lines' })
  const { workspace } = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  const attempt = (number: number) =>
    expect
      .poll(() => client.call('tasks.get', { task_id: task.id }), { timeout: 80_000 })
      .toMatchObject({ status: 'review', entry_barrier: false, review_summary: { attempt_number: number } })
  await attempt(1)
  await page.reload()
  await openProject('Reviewed')
  await openTask('Change lines', 'Files')
  await page.keyboard.press('f')
  const differences = panel.getByRole('region', { name: 'Differences' })
  const bar = panel.getByRole('region', { name: 'Review' })
  const comment = async (line: number, write: () => Promise<void>) => {
    await differences.focus()
    await differences.getByText(`line ${line} now`).click({ button: 'right' })
    await page.getByRole('menuitem', { name: `Comment on line ${line}` }).click()
    await panel.getByRole('textbox', { name: `Comment on line ${line} of src/add.txt` }).waitFor()
    await write()
    await page.keyboard.press('Control+Enter')
    await panel.getByRole('textbox', { name: `Comment on line ${line} of src/add.txt` }).waitFor({ state: 'detached' })
  }
  await comment(3, () => page.keyboard.type('Spell it out.'))

  // The block is filled with the line, which is selected for typing over.
  await comment(6, async () => {
    await page.keyboard.type('Shorter:')
    await panel.getByRole('button', { name: 'Suggest a change' }).click()
    await page.keyboard.type('six')
    const box = panel.getByRole('textbox', { name: 'Comment on line 6 of src/add.txt' })
    expect(await box.inputValue()).toBe('Shorter:\n\n```suggestion\nsix\n```')
  })
  await bar.getByText('2 unresolved').waitFor()
  await bar.getByText('2 not sent').waitFor()
  await panel.getByText('2 comments unresolved.', { exact: false }).first().waitFor()

  // After sending, both stay open, and the button has nothing more to send.
  expect(await bar.getByRole('button', { name: /^Send/ }).count()).toBe(0)
  await page.keyboard.press('Shift+R')
  const sheet = page.getByRole('dialog', { name: 'Request changes' })
  await sheet.getByRole('checkbox', { name: 'src/add.txt:3 Spell it out.', checked: true }).waitFor()
  const second = sheet.getByRole('checkbox', { name: /^src\/add\.txt:6 Shorter: six/, checked: true })
  await second.click()
  await sheet.getByRole('button', { name: /^Send 1 comment/ }).waitFor()
  await sheet.getByRole('checkbox', { name: /^src\/add\.txt:6/, checked: false }).click()
  await sheet.getByRole('textbox', { name: 'Anything else?' }).fill('Nearly there.')
  // A reload loses neither the words nor the comments.
  await page.reload()
  await panel.getByText('line 6 now').first().waitFor()
  await page.keyboard.press('f')
  await page.keyboard.press('Shift+R')
  expect(await sheet.getByRole('textbox', { name: 'Anything else?' }).inputValue()).toBe('Nearly there.')
  expect(await violationsInThemes(page), 'the sheet').toEqual([])
  await sheet.getByRole('button', { name: /^Send 2 comments/ }).click()
  await attempt(2)
  const { items } = await client.call('tasks.executions', { task_id: task.id })
  expect(items[0]?.prompt).toContain('Nearly there.')
  expect(items[0]?.prompt).toContain('Spell it out.')
  await panel.getByRole('tab', { name: /^Changes/ }).click()
  const [spelled, shorter] = ['Spell it out.', 'Shorter:'].map((text) =>
    panel.getByRole('article', { name: 'Comment by You' }).filter({ hasText: text }),
  )
  await spelled?.getByRole('figure', { name: 'Changed in attempt 2' }).getByText('line three').waitFor()
  await bar.getByText('1 sent, 1 line changed').waitFor()
  await spelled?.getByText('Line changed').waitFor()
  expect(await bar.getByRole('button', { name: /^Send/ }).count()).toBe(0)

  // From thread to thread, and the suggestion becomes a commit.
  await bar.getByRole('button', { name: '2 unresolved' }).click()
  await shorter?.getByRole('figure', { name: 'Suggested change' }).getByText('six', { exact: false }).waitFor()
  await shorter?.getByRole('button', { name: 'Apply' }).click()
  await bar.getByText('1 unresolved').waitFor()
  await differences.getByText('six', { exact: true }).first().waitFor()
  const text = await readFile(join(workspace?.path ?? '', 'src/add.txt'), 'utf8')
  expect(text.split('\n')[5]).toBe('six')
  await spelled?.getByRole('button', { name: 'Resolve' }).click()
  await bar.getByText('1 unresolved').waitFor({ state: 'detached' })
  await panel.getByText('unresolved').first().waitFor({ state: 'detached' })
})
