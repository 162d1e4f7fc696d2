import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violations } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

test('changes a workflow in graph and JSON, shows errors in place, and saves it', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, openProject } = await openLocally(await browser.newPage(checkedPage), service)
  const project = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  await client.call('tasks.create', { project_id: project.id, title: 'Waits', status: 'todo' })
  await page.reload()
  await openProject('Ferry')
  await page.keyboard.press('g')
  await page.keyboard.press('w')

  const graph = page.getByRole('region', { name: 'Graph of the workflow' })
  const side = page.getByRole('complementary', { name: 'Chosen state' })
  const dryRun = page.getByRole('region', { name: 'Dry run' })
  const save = page.getByRole('button', { name: 'Save', exact: true })
  await graph.getByRole('button', { name: / review$/ }).click()
  await dryRun.getByText(/^Loops; \d+ paths? to /).waitFor()
  expect(await violations(page)).toEqual([])

  // A rename that follows to existing tasks; a new state with a transition to it.
  await graph.getByRole('button', { name: / todo$/ }).click()
  await side.getByLabel('Name').fill('ready')
  await side.getByLabel('Name').press('Enter')
  await graph.getByRole('button', { name: 'Add state' }).click()
  await side.getByLabel('Name').fill('parked')
  await side.getByLabel('Name').press('Enter')
  // Nothing leads there yet, and every transition needs a target.
  const problem = page.getByRole('button', { name: /^\d+ problem/ })
  await problem.waitFor()
  await expect.poll(() => save.getAttribute('aria-disabled')).toBe('true')
  await graph.getByRole('button', { name: / in_progress$/ }).click()
  await side.getByLabel('Add transition to').selectOption('parked')
  await graph.getByRole('button', { name: / parked$/ }).click()
  await side.getByLabel('Add transition to').selectOption('in_progress')
  await problem.waitFor({ state: 'detached' })

  // Invalid text is reported there, in the graph and at the field.
  const editor = page.getByRole('textbox', { name: 'Workflow as JSON' })
  expect(await editor.isVisible()).toBe(false)
  await page.getByRole('group', { name: 'Below the graph' }).getByRole('button', { name: 'JSON' }).click()
  const before = await client.call('projects.get', { project_id: project.id })
  await editor.focus()
  await page.keyboard.press('Control+f')
  await page.getByRole('textbox', { name: 'Find' }).fill('"reject_target": "in_progress"')
  await page.getByRole('textbox', { name: 'Replace' }).fill('"reject_target": "in_progres"')
  await page.getByRole('button', { name: 'replace all' }).click()
  await page.getByRole('button', { name: /^1 problem/ }).waitFor()
  await page.getByRole('button', { name: 'close' }).click()
  await graph.getByRole('button', { name: / review has a problem/i }).click()
  await side
    .getByRole('alert')
    .getByText(/in_progres/)
    .waitFor()
  expect(await violations(page)).toEqual([])
  // Unsaved edits survive a reload.
  await page.reload()
  await graph.getByRole('button', { name: / review has a problem/i }).click()
  await side.getByLabel('Rejected work goes to').selectOption('in_progress')
  await problem.waitFor({ state: 'detached' })
  expect(await client.call('projects.get', { project_id: project.id })).toEqual(before)

  await save.click()
  await page.getByText('Workflow saved').waitFor()
  const saved = await client.call('projects.get_workflow', { project_id: project.id })
  expect(saved.states.map((state) => state.name)).toContain('parked')
  expect(saved.states.find((state) => state.name === 'review')?.gate_config?.reject_target).toBe('in_progress')
  const { items } = await client.call('tasks.list', { project_id: project.id })
  expect(items.map((task) => task.status)).toEqual(['ready'])

  // Removing a state with tasks is refused with a reason; a template can be the start.
  await graph.getByRole('button', { name: / ready$/ }).click()
  await side.getByRole('button', { name: 'Remove ready' }).click()
  await problem.waitFor()
  await page.getByRole('button', { name: 'Discard…' }).click()
  await page.getByRole('button', { name: 'Discard', exact: true }).click()
  await graph.getByRole('button', { name: / ready$/ }).waitFor()
  await page.getByRole('button', { name: 'From a template' }).click()
  await page.getByRole('menuitem', { name: 'default' }).click()
  await graph.getByRole('button', { name: / todo$/ }).waitFor()

  // Another version is saved elsewhere: that is shown, survives a reload, and the person chooses.
  const theirs = JSON.stringify({ ...saved, states: saved.states.filter(({ name }) => name !== 'parked').map(aside) })
  await client.call('projects.update', { project_id: project.id, workflow_definition: theirs })
  const overtaken = page.getByText('Someone saved another version while you were editing.')
  await overtaken.waitFor()
  expect(await save.getAttribute('aria-disabled')).toBe('true')
  await page.reload()
  await overtaken.waitFor()
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Use theirs' }).click()
  await graph.getByRole('button', { name: / ready$/ }).waitFor()
  await overtaken.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await overtaken.waitFor()
  await page.getByRole('button', { name: 'Use theirs' }).click()
  await overtaken.waitFor({ state: 'detached' })
  // One's own change is valid by itself.
  await graph.getByRole('button', { name: / ready$/ }).click()
  await side.getByLabel('Label', { exact: true }).fill('Ready now')
  await side.getByLabel('Label', { exact: true }).press('Enter')
  await client.call('projects.update', { project_id: project.id, workflow_definition: JSON.stringify(saved) })
  await overtaken.waitFor()
  await page.getByRole('button', { name: 'Overwrite with mine' }).click()
  await overtaken.waitFor({ state: 'detached' })
  const labels = async () => (await client.call('projects.get_workflow', { project_id: project.id })).states
  await expect.poll(async () => (await labels()).map(({ label }) => label)).toContain('Ready now')
})

/** The state without transitions to the removed one. */
function aside<T extends { readonly transitions: readonly { readonly to: string }[] }>(state: T): T {
  return { ...state, transitions: state.transitions.filter(({ to }) => to !== 'parked') }
}
