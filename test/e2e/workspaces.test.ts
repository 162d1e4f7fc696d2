import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Client } from '../../src-shared/client/create-client.ts'
import { ApiError } from '../../src-shared/contract/errors.ts'
import type { Project } from '../../src-shared/contract/projects.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

const viewport = { width: 1440, height: 900 }

/** A task whose agent has run `command` in its worktree. */
async function worked(client: Client, project: Project, title: string, command: string) {
  const agent = await client.call('agents.create', { name: `For ${title}`, executor: 'command', config: { command } })
  const task = await client.call('tasks.create', { project_id: project.id, title })
  const { workspace } = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  const reviewed = { status: 'review', entry_barrier: false }
  await expect.poll(() => client.call('tasks.get', { task_id: task.id }), { timeout: 80_000 }).toMatchObject(reviewed)
  return { task, agent, path: workspace?.path ?? '', branch: workspace?.branch ?? '' }
}
const statusOf = async (client: Client, task: Task) => (await client.call('tasks.get', { task_id: task.id })).status

test('shows, restores and discards what a reset removed', async () => {
  await using repository = await createTestRepository({ files: { 'a.txt': 'one\n' } })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage({ viewport }), service)
  const project = await client.call('projects.create', { name: 'Rescues', repo_path: repository.path })
  const { task, agent, path } = await worked(
    client,
    project,
    'Keep it',
    'echo two > a.txt; git commit -qam Two; echo done',
  )
  await writeFile(join(path, 'loose.txt'), 'not committed\n')
  await page.reload()
  await openProject('Rescues')
  await openTask('Keep it', 'Workspace')
  const snapshots = panel.getByRole('region', { name: 'Rescue snapshots' })
  await snapshots.getByText('No snapshots yet.').waitFor()

  await panel.getByRole('button', { name: 'Reset worktree…' }).click()
  const question = page.getByRole('dialog')
  await question.getByText(/1 commit and uncommitted changes can be restored/i).waitFor()
  await question.getByRole('button', { name: 'Reset the worktree' }).click()
  await question.waitFor({ state: 'hidden' })
  expect(await statusOf(client, task)).toBe('todo')
  const loose = snapshots.getByRole('listitem').filter({ hasText: 'uncommitted' })
  await loose.getByText('1 file, uncommitted').waitFor()
  await loose.getByRole('button', { name: 'Show' }).click()
  const content = loose.getByRole('group', { name: 'What the snapshot holds' })
  await content.getByText('loose.txt', { exact: true }).waitFor()
  await content.getByText('not committed').first().waitFor()
  expect(await content.getByText('Viewed').count()).toBe(0)
  await loose.getByRole('button', { name: 'Hide' }).click()
  await content.waitFor({ state: 'detached' })

  // With a worktree again, uncommitted work is restored into it.
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  await expect.poll(() => statusOf(client, task)).toBe('review')
  await loose.getByRole('button', { name: 'Restore' }).click()
  await snapshots.getByText('1 file is back in the worktree, not committed.').waitFor()
  expect(await readFile(join(path, 'loose.txt'), 'utf8')).toBe('not committed\n')
  await panel.getByText('Uncommitted changes').first().waitFor()

  // A double click asks and does not answer. By keyboard: asked in place, closed with Escape, then discarded.
  const giveUp = loose.getByRole('button', { name: 'Delete…' })
  await giveUp.dblclick()
  await loose.getByText('This can’t be undone.').waitFor()
  await page.keyboard.press('Escape')
  await giveUp.focus()
  await page.keyboard.press('Enter')
  await loose.getByText('This can’t be undone.').waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => giveUp.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true)
  await page.keyboard.press('Enter')
  await loose.getByRole('button', { name: 'Delete snapshot' }).click()
  await loose.waitFor({ state: 'detached' })
  const { items } = await client.call('rescues.of_task', { task_id: task.id })
  expect(items.filter((rescue) => rescue.kind === 'uncommitted')).toEqual([])

  // A finished task's worktree can be removed early.
  await client.call('tasks.cancel', { task_id: task.id })
  await panel.getByRole('button', { name: 'Remove it now' }).click()
  await panel.getByText('Removed; the next run recreates it').waitFor()
  await expect(readFile(join(path, 'loose.txt'))).rejects.toThrow('ENOENT')
  await snapshots.getByText('1 file, uncommitted').waitFor()
})

test('points at a worktree without a task, adopts it, and removes another', async () => {
  await using repository = await createTestRepository({ files: { 'a.txt': 'one\n' } })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject } = await openLocally(await browser.newPage({ viewport }), service)
  const project = await client.call('projects.create', { name: 'Orphans', repo_path: repository.path })
  const folder = (name: string) => join(service.dataDir, 'workspaces', project.id, name)
  const first = folder('019b0000-0000-7000-8000-000000000001')
  const second = folder('019b0000-0000-7000-8000-000000000002')
  await repository.git(['worktree', 'add', '-q', '-b', 'svc/fix-the-login', first])
  await repository.git(['worktree', 'add', '-q', '-b', 'svc/drop-it', second])
  await writeFile(join(first, 'half.txt'), 'half\n')
  await writeFile(join(second, 'half.txt'), 'other half\n')
  await page.reload()
  await openProject('Orphans')
  await page.getByTitle('Settings, 2 worktrees without a task').click()
  await page.getByRole('navigation', { name: 'Settings' }).getByText('Storage').click()

  const row = (branch: string) => page.getByRole('row').filter({ hasText: branch })
  await row('svc/fix-the-login').getByText('Uncommitted changes').waitFor()
  await row('svc/fix-the-login').getByRole('button', { name: 'Adopt…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Adopt as a task' }).click()
  await row('svc/fix-the-login').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Open the task' }).click()
  await panel.getByText('svc/fix-the-login').first().waitFor()
  await panel.getByText('Uncommitted changes').first().waitFor()
  expect(await readFile(join(first, 'half.txt'), 'utf8')).toBe('half\n')

  await page.goto(`${new URL(page.url()).origin}/#/settings/storage`)
  await row('svc/drop-it').getByRole('button', { name: 'Remove…' }).click()
  const question = page.getByRole('dialog')
  await question.getByText('The branch svc/drop-it stays, with its commits.').waitFor()
  await question.getByRole('button', { name: 'Remove the folder' }).click()
  await page.getByText('What it held is kept in 1 rescue snapshot.').waitFor()
  await page.getByText('No worktrees without a task.').waitFor()
  expect(await repository.git(['branch', '--list', 'svc/drop-it'])).toContain('svc/drop-it')

  // Without a task: its snapshot is among the project's, and is restored as a branch.
  const snapshots = page.getByRole('region', { name: 'Rescue snapshots' })
  await snapshots.getByRole('button', { name: 'Refresh' }).click()
  await snapshots.getByRole('button', { name: 'Restore' }).click()
  await snapshots.getByText('There is no worktree.').waitFor()
  const { items } = await client.call('rescues.of_project', { project_id: project.id })
  const branch = (await repository.git(['branch', '--list', 'svc/rescued-*', '--format=%(refname:short)'])).trim()
  expect(await repository.git(['rev-parse', branch])).toBe(items[0]?.commit)
})

test('updates a branch from its base, and shows and concludes a conflict', async () => {
  await using repository = await createTestRepository({ files: { 'a.txt': 'one\n', 'b.txt': 'b\n' } })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage({ viewport }), service)
  const project = await client.call('projects.create', { name: 'Updates', repo_path: repository.path })
  const { path, branch } = await worked(client, project, 'Clash', 'echo two > a.txt; git commit -qam Two; echo done')
  await repository.commit('Change another file', { 'b.txt': 'bb\n' })
  await page.reload()
  await openProject('Updates')
  await openTask('Clash', 'Workspace')
  const section = panel.getByRole('region', { name: 'Update from main' })
  await section.getByText('This branch is 1 commit behind main.').waitFor()
  await section.getByRole('button', { name: 'Rebase' }).click()
  await section.getByRole('button', { name: 'Update from main' }).click()
  await page.getByText('The branch is on top of main now.').waitFor()
  await section.waitFor({ state: 'detached' })
  expect(await repository.git(['show', `${branch}:b.txt`])).toBe('bb')
  await panel.getByRole('region', { name: 'Rescue snapshots' }).getByText('Before its commits were replaced').waitFor()

  await repository.commit('Change the same line', { 'a.txt': 'three\n' })
  await panel.getByRole('tab', { name: 'Review' }).click()
  await panel.getByRole('tab', { name: 'Workspace' }).click()
  await section.getByRole('button', { name: 'Update from main' }).click()
  const conflict = panel.getByRole('region', { name: 'The branch conflicts with main' })
  await conflict.getByText('Both changed the same lines').waitFor()
  await conflict.getByText('three').waitFor()
  expect(await repository.git(['show', `${branch}:a.txt`])).toBe('two')

  await conflict.getByRole('button', { name: 'Resolve in my editor' }).click()
  await conflict.getByText('The merge is started in the worktree').first().waitFor()
  await conflict.getByText(path).waitFor()
  expect(await readFile(join(path, 'a.txt'), 'utf8')).toContain('<<<<<<<')
  await writeFile(join(path, 'a.txt'), 'two and three\n')
  await conflict.getByRole('button', { name: 'Update from main' }).click()
  await conflict.waitFor({ state: 'detached' })
  expect(await repository.git(['show', `${branch}:a.txt`])).toBe('two and three')
  await repository.git(['merge-base', '--is-ancestor', 'main', branch])

  // Its base was renamed, so the task gets the new name.
  await repository.git(['branch', '--move', 'main', 'trunk'])
  await repository.commit('On the renamed base', { 'b.txt': 'bbb\n' })
  const base = panel.getByRole('region', { name: 'Base branch' })
  await base.getByRole('button', { name: 'Change the base branch…' }).click()
  await base.getByLabel('Base branch').fill('trunk')
  await base.getByRole('button', { name: 'Update from trunk' }).click()
  await page.getByText('Up to date with trunk.').waitFor()
  await base.getByRole('button', { name: 'Change the base branch…' }).waitFor()
  expect(await repository.git(['show', `${branch}:b.txt`])).toBe('bbb')
})

test('shows the lines of a conflicting merge in the review, which the agent resolves', async () => {
  await using repository = await createTestRepository({ files: { 'a.txt': 'one\n' } })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage({ viewport }), service)
  const project = await client.call('projects.create', { name: 'Conflicts', repo_path: repository.path })
  const command =
    'if git merge-base --is-ancestor main HEAD; then echo two > a.txt; git commit -qam Two; else git merge -q main; echo both > a.txt; git add -A; git commit -qm Merge; fi; echo done'
  const { task, branch } = await worked(client, project, 'Clash', command)
  await repository.commit('Change the same line', { 'a.txt': 'three\n' })
  await page.reload()
  await openProject('Conflicts')
  await openTask('Clash', 'Review')
  await panel.getByText('Conflicts with main in a.txt').first().waitFor()
  // The app knows of it before the merge; a merge over the API meets it anyway.
  await panel.getByRole('button', { name: 'Let For Clash resolve the conflict' }).first().waitFor()
  const { version } = await client.call('tasks.get', { task_id: task.id })
  await client.call('tasks.transition', { task_id: task.id, status: 'merging', version })
  const conflict = panel.getByRole('region', { name: 'Merge conflict' })
  await conflict.getByText('Both changed the same lines').waitFor()
  await conflict.getByText('three').waitFor()
  await conflict.getByRole('button', { name: 'Retry merge' }).waitFor()
  // The step after a failed merge is automatic, and until then nothing else is allowed.
  const update = () =>
    client.call('tasks.update_branch', { task_id: task.id, on_conflict: 'report' }).then(
      () => 'updated',
      (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
    )
  await expect.poll(update, { timeout: 80_000 }).toBe('merge_conflict')
  await conflict.getByRole('button', { name: 'Let For Clash resolve it' }).click()
  await expect
    .poll(() => client.call('tasks.get', { task_id: task.id }), { timeout: 80_000 })
    .toMatchObject({ status: 'review', entry_barrier: false })
  await conflict.waitFor({ state: 'detached' })
  expect(await repository.git(['show', `${branch}:a.txt`])).toBe('both')
  // Its instructions are Copse's words, not the person's.
  const asked = /asked (For Clash|the agent) to resolve 1 conflict with main/
  const instructions = panel.getByText('Leave no conflict markers behind', { exact: false })
  await panel.getByRole('tab', { name: /^Agent/ }).click()
  await panel.getByRole('log', { name: 'Transcript' }).getByText(asked).click()
  await instructions.waitFor()
  await panel.getByRole('tab', { name: /^Activity/ }).click()
  await panel
    .getByText(/To resolve 1 conflict with main|asked the agent to resolve 1 conflict/)
    .first()
    .waitFor()
  expect(await instructions.count()).toBe(0)
  await panel.getByRole('tab', { name: /^Review/ }).click()
  await panel
    .getByRole('button', { name: /merge into main/i })
    .first()
    .click()
  await panel.getByText(/Merged into main/).waitFor()
  expect(await repository.git(['show', 'main:a.txt'])).toBe('both')
})
