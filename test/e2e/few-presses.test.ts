import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

const viewport = { width: 1440, height: 900 }
const nine = Array.from({ length: 9 }, (_, n) => `line ${n + 1}\n`).join('')

test('comments on two lines and returns the task in six presses, and merges in one', async () => {
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
      .poll(() => client.call('tasks.get', { task_id: task.id }), { timeout: 20_000 })
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

  await panel.getByText('line 6 now').waitFor()
  await press('n')
  await press('Enter')
  await box(3).waitFor()
  await page.keyboard.type('Spell it out.')
  await press('Control+Enter')
  await box(3).waitFor({ state: 'detached' })
  await press('n')
  await press('Enter')
  await box(6).waitFor()
  await page.keyboard.type('This one too.')
  await press('Control+Shift+Enter')
  await attempt(2)
  expect(presses).toBeLessThanOrEqual(6)
  const { items } = await client.call('comments.list', { task_id: task.id })
  expect(items.map(({ body, state }) => [body, state])).toEqual([
    ['Spell it out.', 'sent'],
    ['This one too.', 'sent'],
  ])

  // From a tab that shows nothing of the review.
  await panel.getByRole('tab', { name: /^Activity/ }).click()
  await page.keyboard.press('Shift+M')
  await expect.poll(() => client.call('tasks.get', { task_id: task.id })).toMatchObject({ status: 'done' })
  expect(await repository.git(['show', 'main:add.txt'])).toContain('line 6 now')
})
