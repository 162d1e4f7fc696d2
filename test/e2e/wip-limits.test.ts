import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

test('shows a full column, lets a start wait for room, and marks what exceeds it', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const viewport = { width: 1440, height: 900 }
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage({ viewport }), service)
  const { id: project_id } = await client.call('projects.create', { name: 'Narrow', repo_path: repository.path })
  const config = { command: 'exec tail -f /dev/null' }
  const agent = await client.call('agents.create', { name: 'Writer', executor: 'command', config })
  const first = await client.call('tasks.create', { project_id, title: 'First' })
  const second = await client.call('tasks.create', { project_id, title: 'Second' })
  await page.evaluate(`location.hash = '#/p/${project_id}/workflow'`)

  // The limit is set in the workflow editor.
  await page
    .getByRole('button', { name: /^In progress/ })
    .first()
    .click()
  await page.getByLabel('Tasks at most').fill('1')
  await page.getByLabel('Tasks at most').press('Tab')
  await page.getByRole('button', { name: 'Save' }).click()
  const limitOf = async () =>
    (await client.call('projects.get_workflow', { project_id })).states.find(({ name }) => name === 'in_progress')
  await expect.poll(async () => (await limitOf())?.wip_limit).toBe(1)

  await client.call('tasks.claim', { task_id: first.id, agent_id: agent.id })
  await page.evaluate(`location.hash = '#/p/${project_id}'`)
  await page.reload()
  await openProject('Narrow')
  await page.getByRole('region', { name: 'In progress, 1 task, full: 1 of 1' }).waitFor()
  await openTask('Second', 'Overview')
  await page.keyboard.press('s')
  await page.keyboard.press('1')
  await page.getByRole('button', { name: 'Start when there is room' }).click()
  await panel.getByText('Starts automatically with Writer when there is room.').waitFor()
  // Room for two: it starts. Room for one again: the column exceeds its limit.
  const limitTo = async (wip_limit: number) => {
    const workflow = await client.call('projects.get_workflow', { project_id })
    const states = workflow.states.map((one) => (one.name === 'in_progress' ? { ...one, wip_limit } : one))
    const workflow_definition = JSON.stringify({ ...workflow, states })
    await client.call('projects.update', { project_id, workflow_definition })
  }
  await limitTo(2)
  await page.getByRole('region', { name: 'In progress, 2 tasks, full: 2 of 2' }).waitFor({ timeout: 80_000 })
  expect((await client.call('tasks.get', { task_id: second.id })).start_when_ready).toBeNull()
  await limitTo(1)
  await page.getByRole('region', { name: 'In progress, 2 tasks, over its limit: 2 of 1' }).waitFor()
})
