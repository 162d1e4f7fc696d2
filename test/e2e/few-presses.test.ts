import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

const viewport = { width: 1440, height: 900 }
const nine = Array.from({ length: 9 }, (_, n) => `line ${n + 1}\n`).join('')

test('comments on two lines and requests changes in five presses, and merges in one', async () => {
  await using repository = await createTestRepository({ files: { 'add.txt': nine } })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage({ viewport }), service)
  const project = await client.call('projects.create', { name: 'Quick', repo_path: repository.path })
  const command =
    'if grep -q now add.txt; then echo more >> add.txt; git commit -qam Second; ' +
    'else sed -i -e "s/line 3/line 3 now/" -e "s/line 6/line 6 now/" add.txt; git commit -qam First; fi; echo done'
  const agent = await client.call('agents.create', { name: 'Writer', executor: 'command', config: { command } })
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Change lines' })
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  const attempt = (number: number) =>
    expect
      .poll(() => client.call('tasks.get', { task_id: task.id }), { timeout: 80_000 })
      .toMatchObject({ status: 'review', entry_barrier: false, review_summary: { attempt_number: number } })
  await attempt(1)
  await page.reload()
  await openProject('Quick')
  await openTask('Change lines', 'Changes')
  let presses = 0
  const press = async (key: string) => {
    presses += 1
    await page.keyboard.press(key)
  }
  const box = (line: number) => panel.getByRole('textbox', { name: `Comment on line ${line} of add.txt` })
  const sheet = page.getByRole('dialog', { name: 'Request changes' })
  /** The `+` beside a line. */
  const comment = async (line: number) => {
    await panel.getByText(`line ${line} now`).hover()
    presses += 1
    await panel.locator('.add-note').click()
    await box(line).waitFor()
  }

  await panel.getByText('line 6 now').waitFor()
  await comment(3)
  await page.keyboard.type('Spell it out.')
  await press('Control+Enter')
  await box(3).waitFor({ state: 'detached' })
  await comment(6)
  await page.keyboard.type('This one too.')
  // Saves it, and opens the sheet.
  await press('Control+Shift+Enter')
  await sheet.getByRole('button', { name: /^Send 2 comments/ }).waitFor()
  await press('Control+Enter')
  await attempt(2)
  expect(presses).toBeLessThanOrEqual(5)
  const { items } = await client.call('comments.list', { task_id: task.id })
  expect(items.map(({ body, state }) => [body, state])).toEqual([
    ['Spell it out.', 'sent'],
    ['This one too.', 'sent'],
  ])

  // From a tab that shows nothing of the review.
  await panel.getByRole('tab', { name: /^Activity/ }).click()
  await panel.getByRole('button', { name: 'Merge with 2 comments unresolved' }).waitFor()
  await page.keyboard.press('Shift+M')
  const question = page.getByRole('dialog', { name: 'Merge it?' })
  await question.getByText('2 comments unresolved.', { exact: false }).waitFor()
  await question.getByRole('button', { name: 'Keep open' }).click()
  await question.waitFor({ state: 'detached' })
  for (const { id } of items) await client.call('comments.update', { comment_id: id, resolved: true })
  await panel.getByRole('button', { name: 'Merge into main' }).waitFor()
  await page.keyboard.press('Shift+M')
  await expect.poll(() => client.call('tasks.get', { task_id: task.id })).toMatchObject({ status: 'done' })
  expect(await repository.git(['show', 'main:add.txt'])).toContain('line 6 now')

  // Back in one press: by its key, then by the toast's button.
  const status = () => expect.poll(async () => (await client.call('tasks.get', { task_id: task.id })).status)
  const merged = await repository.git(['rev-parse', '--short=7', 'main'])
  await page.getByText(`Merged ${task.ref} as ${merged}`).waitFor()
  await panel.getByText(`Merged as ${merged}`).waitFor()
  await page.keyboard.press('Shift+U')
  await status().toBe('review')
  expect(await repository.git(['show', 'main:add.txt'])).not.toContain('now')
  await panel.getByRole('button', { name: 'Merge into main' }).waitFor()
  await page.keyboard.press('Shift+M')
  await status().toBe('done')
  const again = await repository.git(['rev-parse', '--short=7', 'main'])
  const toast = page.locator('[data-sonner-toast]').filter({ hasText: `Merged ${task.ref} as ${again}` })
  await toast.getByRole('button', { name: 'Undo' }).click()
  await status().toBe('review')

  // What comes too late is told in words.
  await panel.getByRole('button', { name: 'Merge into main' }).waitFor()
  await page.keyboard.press('Shift+M')
  await status().toBe('done')
  await repository.commit('On top', { 'other.txt': 'mine\n' })
  await panel.getByRole('button', { name: 'Undo merge' }).click()
  const refused = page.locator('[data-sonner-toast]').filter({ hasText: 'main has changed since this merge.' })
  await refused
    .getByText('Couldn’t undo the merge: Change lines. main has changed since this merge. Revert it instead.')
    .waitFor()
  await refused.getByRole('button', { name: 'Revert' }).click()
  await page.getByText(/reverts/).waitFor()
  const { items: all } = await client.call('tasks.list', { project_id: project.id })
  expect(all.find(({ reverts }) => reverts === task.id)?.title).toBe('Revert “Change lines”')
})
