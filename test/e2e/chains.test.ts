import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

test('lets a dependent task start automatically, shows that, and cancels it', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const viewport = { width: 1440, height: 900 }
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage({ viewport }), service)
  const project = await client.call('projects.create', { name: 'Chain', repo_path: repository.path })
  const config = { command: 'echo 1 > one.txt; echo done' }
  const agent = await client.call('agents.create', { name: 'Writer', executor: 'command', config })
  const first = await client.call('tasks.create', { project_id: project.id, title: 'First' })
  const second = await client.call('tasks.create', { project_id: project.id, title: 'Second' })
  await client.call('tasks.add_dependency', { task_id: second.id, depends_on_id: first.id })
  await page.reload()
  await openProject('Chain')
  await openTask('Second', 'Overview')
  await page.keyboard.press('s')
  await page.keyboard.press('1')
  await page.getByRole('button', { name: 'Start when ready' }).click()
  await panel.getByText('Starts automatically with Writer once these are done.').waitFor()
  await page.getByText('Starts after').first().waitFor()
  expect((await client.call('tasks.get', { task_id: second.id })).start_when_ready?.agent_id).toBe(agent.id)
  await panel.getByRole('button', { name: 'Don’t start it' }).click()
  await panel.getByText('Starts automatically').waitFor({ state: 'detached' })
  expect((await client.call('tasks.get', { task_id: second.id })).start_when_ready).toBeNull()
})
