import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

const viewport = { width: 1440, height: 900 }
const modules = [1, 2, 10].map((n) => `module${n}.ts`)

test('shows one commit, marks files as viewed in order, and changes the view by menu', async () => {
  const files = { ...Object.fromEntries(modules.map((name) => [name, 'one\ntwo\n'])), 'package-lock.json': '{}\n' }
  await using repository = await createTestRepository({ files })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage({ viewport }), service)
  const project = await client.call('projects.create', { name: 'Viewed', repo_path: repository.path })
  const command = [
    "for f in module*.ts; do printf 'one\\n  two\\nthree\\n' > $f; done; seq 12 >> module10.ts; git commit -qam 'Add three'",
    "echo '{ }' > package-lock.json; git commit -qam 'Lock it'; echo done",
  ].join('; ')
  const agent = await client.call('agents.create', { name: 'Writer', executor: 'command', config: { command } })
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Change modules' })
  const { workspace } = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  await expect
    .poll(() => client.call('tasks.get', { task_id: task.id }), { timeout: 80_000 })
    .toMatchObject({ status: 'review', entry_barrier: false })
  await page.reload()
  await openProject('Viewed')
  await openTask('Change modules', 'Files')
  const topOfFirstLine = () =>
    panel
      .locator('[data-line]')
      .first()
      .boundingBox()
      .then((box) => box?.y ?? 999)
  // The head is one row, so the changes begin where it ends, and what can be decided is there once.
  await expect.poll(topOfFirstLine).toBeLessThanOrEqual(130)
  expect((await panel.locator('header').boundingBox())?.height).toBe(44)
  expect(await panel.getByRole('button', { name: 'Merge into main' }).count()).toBe(1)
  expect(await panel.locator('[data-diff-type="split"]').count()).toBe(0)
  await page.keyboard.press('f')
  await panel.getByRole('button', { name: 'Back to side panel' }).waitFor()
  await expect.poll(topOfFirstLine).toBeLessThanOrEqual(130)
  expect(await panel.getByRole('button', { name: 'Merge into main' }).count()).toBe(1)
  // Side by side, but not where half of the width would be empty.
  const layouts = () =>
    panel
      .locator('pre[data-diff-type]')
      .evaluateAll((files) => files.map((file) => file.getAttribute('data-diff-type')))
  await expect.poll(layouts).toEqual(expect.arrayContaining(['single', 'split']))
  const tree = panel.getByRole('navigation', { name: 'Changed files' })
  const titles = () =>
    tree.locator('.rows button[title]').evaluateAll((rows) => rows.map((row) => row.getAttribute('title')))
  const choose = async (button: string | RegExp, item: RegExp | string) => {
    await panel.getByRole('button', { name: button, exact: true }).click()
    await page
      .getByRole('menuitemcheckbox', { name: item })
      .or(page.getByRole('menuitem', { name: item }))
      .click()
  }
  await tree.getByText('0 of 4 viewed').waitFor()
  expect(await titles()).toEqual([...modules, 'package-lock.json'])
  await panel.getByTitle(/^Whole branch, against main at [0-9a-f]{8}$/).waitFor()

  // Marked, collapsed, and on to the next unmarked file, past the end to the first ones.
  const current = () => tree.locator('[aria-current="true"]').getAttribute('title')
  await tree.getByTitle('module2.ts').click()
  for (const next of ['module10.ts', 'package-lock.json', 'module1.ts']) {
    await page.keyboard.press('v')
    await expect.poll(current).toBe(next)
  }
  await tree.getByText('3 of 4 viewed').waitFor()
  await panel.getByRole('button', { name: 'Open module2.ts' }).waitFor()

  // White space and generated files by menu.
  await choose('View', 'Show whitespace changes')
  await panel.getByText('+15', { exact: true }).first().waitFor()
  await choose('View', 'Show whitespace changes')
  await choose('View', /^Collapse generated files/)
  await choose('View', 'Expand all files')
  await panel.getByRole('button', { name: 'Collapse package-lock.json' }).waitFor()
  await expect.poll(() => panel.getByText('three', { exact: true }).count()).toBe(3)
  await choose('View', 'Side by side')
  await expect.poll(layouts).not.toContain('single')
  await choose('View', 'Unified')

  // One commit, and back to all of them.
  await choose('2 commits', /^Lock it [0-9a-f]{8} · .* · (now|\d+ min ago)$/)
  await expect.poll(titles).toEqual(['package-lock.json'])
  await panel.getByRole('button', { name: /^[0-9a-f]{8} Lock it$/ }).waitFor()
  await choose(/Lock it/, 'All commits')
  await expect.poll(titles).toHaveLength(4)

  // The changes since the last look.
  await panel.getByRole('tab', { name: 'Activity' }).click()
  await repository.git(['-C', workspace?.path ?? '', 'commit', '-q', '--allow-empty', '-m', 'Nothing'])
  await panel.getByRole('tab', { name: /^Changes/ }).click()
  await choose('Whole branch', 'Since I last looked')
  await panel.getByText('Nothing has changed since you last looked.').waitFor()
})
