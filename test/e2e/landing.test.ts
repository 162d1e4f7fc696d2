import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

const viewport = { width: 1440, height: 900 }

test('shows the lane and what broke the base, and merges on red on request', async () => {
  await using repository = await createTestRepository({ files: { 'a.txt': 'a\n' } })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage({ viewport }), service)
  const project = await client.call('projects.create', { name: 'Lane', repo_path: repository.path })
  const go = join(repository.beside, 'go')
  const waits = `test ! -e broken && until [ -e ${go} ]; do sleep 0.02; done`
  const landing = { mode: 'serial' as const, steps: [waits], max_parallel: 2, retry_failed: false }
  await client.call('projects.update_settings', { project_id: project.id, landing })
  const make = async (title: string, file: string) => {
    const command = `echo 1 > ${file}; echo done`
    const agent = await client.call('agents.create', { name: title, executor: 'command', config: { command } })
    const task = await client.call('tasks.create', { project_id: project.id, title })
    await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    await expect
      .poll(() => client.call('tasks.get', { task_id: task.id }), { timeout: 80_000 })
      .toMatchObject({ status: 'review', entry_barrier: false })
    return task
  }
  const [first, second] = await Promise.all([make('First change', 'one.txt'), make('Second change', 'two.txt')])
  await repository.commit('theirs', { 'theirs.txt': 'x\n' })
  await page.reload()
  await openProject('Lane')
  await openTask('First change', 'Overview')
  await page.keyboard.press('Shift+M')
  await panel.getByText('Merging', { exact: false }).first().waitFor()
  await openTask('Second change', 'Overview')
  await page.keyboard.press('Shift+M')
  const lane = page.getByRole('button', { name: /^Base branch main: .*, \d tasks? landing, show the lane$/ })
  await lane.click()
  const list = page.getByRole('list', { name: 'Landing on main' })
  await expect.poll(() => list.getByRole('listitem').allInnerTexts()).toHaveLength(2)
  const texts = (await list.getByRole('listitem').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))
  expect(texts[0]).toContain('First change Testing')
  expect(texts[1]).toContain('Second change Waiting')
  // No landing on this branch is known yet, so no time is.
  expect(texts.join()).not.toContain('about')
  await page.getByRole('button', { name: 'Take “Second change” out of the lane' }).click()
  await expect.poll(() => list.getByRole('listitem').count()).toBe(1)
  await expect
    .poll(() => client.call('tasks.get', { task_id: second.id }))
    .toMatchObject({ status: 'review', review_passed_at: expect.any(String) as string })
  await writeFile(go, '')
  await expect.poll(() => client.call('tasks.get', { task_id: first.id })).toMatchObject({ status: 'done' })

  // The next one says its time, in the panel too.
  await rm(go)
  await page.keyboard.press('Escape')
  const { version } = await client.call('tasks.get', { task_id: second.id })
  const landed = client.call('tasks.transition', { task_id: second.id, status: 'merging', version })
  await openTask('Second change', 'Review')
  await panel.getByText(/^Testing the merge into main, about \d+ (s|m)…$/).waitFor()
  await lane.click()
  await list.getByText(/^Testing, about \d+ (s|m)$/).waitFor()
  await page.getByRole('button', { name: 'Take “Second change” out of the lane' }).click()
  await landed

  await repository.commit('break it', { broken: 'x\n' })
  await page.getByRole('button', { name: 'Check the base' }).click()
  await page.getByText('Nothing lands until it passes.').waitFor()
  await page.keyboard.press('Escape')
  await panel.getByRole('button', { name: 'Merge into main' }).click()
  await page.getByRole('button', { name: 'Merge anyway' }).click()
  await expect.poll(() => client.call('tasks.get', { task_id: second.id })).toMatchObject({ status: 'done' })
})

test('a person sees why a task that breaks the base together with another came back, and merges it once it is mended', async () => {
  await using repository = await createTestRepository({ files: { 'lib.sh': 'greet() { echo hello; }\n' } })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage({ viewport }), service)
  const project = await client.call('projects.create', { name: 'Lane', repo_path: repository.path })
  const check = 'test ! -e caller.sh || sh -e caller.sh'
  await client.call('projects.update_settings', {
    project_id: project.id,
    default_review_config: { ci_steps: [check], review_prompt: null },
  })
  const begin = async (title: string, command: string) => {
    const agent = await client.call('agents.create', { name: title, executor: 'command', config: { command } })
    const task = await client.call('tasks.create', { project_id: project.id, title })
    await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  }
  await begin('Rename greet', 'sed -i s/greet/welcome/ lib.sh')
  const mend = 'git merge -q --no-edit main && sed -i s/greet/welcome/ caller.sh'
  await begin('Add a caller', `if [ -e caller.sh ]; then ${mend}; else printf ". ./lib.sh\\ngreet\\n" > caller.sh; fi`)
  await page.reload()
  await openProject('Lane')
  const merge = async (title: string) => {
    await openTask(title, 'Activity')
    await panel.getByRole('button', { name: 'Merge into main' }).click()
  }
  await merge('Rename greet')
  await page.getByRole('region', { name: 'Done' }).getByText('Rename greet').waitFor()
  await merge('Add a caller')
  await panel.getByText('It passes alone. It fails together with').first().waitFor()
  await merge('Add a caller')
  await page.getByRole('region', { name: 'Done' }).getByText('Add a caller').waitFor()
  expect(await repository.git(['show', 'main:caller.sh'])).toContain('welcome')
})
