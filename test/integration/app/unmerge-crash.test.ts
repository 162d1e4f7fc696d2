import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { CountCommits } from '../../helpers/die-at-commit.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startKillableApp } from '../../helpers/killable-app.ts'

vi.setConfig({ testTimeout: 300_000 })

type Death = NonNullable<CountCommits['die']>

/** Undoes a merge, and kills the service while it does. Returns whether it died. */
async function undoAndDie(die: Death): Promise<boolean> {
  await using repository = await createTestRepository({ files: { 'shared.txt': 'base\n' } })
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-unmerge-'))
  const tip = () => repository.git(['rev-parse', 'main'])
  try {
    const first = await startKillableApp(dataDir, 'mortal')
    const { client } = first
    const project = await client.call('projects.create', { name: 'Job', repo_path: repository.path })
    const config = { command: 'echo theirs > shared.txt' }
    const agent = await client.call('agents.create', { name: 'Scripted', executor: 'command', config })
    const { id: task_id } = await client.call('tasks.create', { project_id: project.id, title: 'Work' })
    await client.call('tasks.claim', { task_id, agent_id: agent.id })
    const { version } = await first.eventually(
      () => client.call('tasks.get', { task_id }),
      (one) => one.review_passed_at !== null && !one.entry_barrier && one.active_execution_id === null,
    )
    const before = await tip()
    await client.call('tasks.transition', { task_id, status: 'merging', version })
    const merged = await tip()
    first.count(die)
    const answer = await Promise.race([
      client.call('tasks.unmerge', { task_id }).then(
        () => 'undone',
        () => first.exited.then(() => 'died'),
      ),
      first.exited.then(() => 'died'),
    ])
    await first[Symbol.asyncDispose]()

    await using second = await startKillableApp(dataDir)
    const read = () => second.client.call('tasks.get', { task_id })
    const now = await second.eventually(read, ({ entry_barrier }) => !entry_barrier)
    expect(await repository.git(['status', '--porcelain'])).toBe('')
    if (now.status === 'done') {
      // Nothing has happened, and it can be undone now.
      expect(await tip()).toBe(merged)
      expect(now.merged?.commit).toBe(merged)
      await second.client.call('tasks.unmerge', { task_id })
    }
    const back = await read()
    expect(back).toMatchObject({ status: 'review', merged: null, error_annotation: null })
    expect(back.review_passed_at).not.toBe(null)
    expect(await tip()).toBe(before)
    const { items } = await second.client.call('tasks.transitions', { task_id })
    expect(items.filter(({ from_state }) => from_state === 'done')).toHaveLength(1)
    const { status, path } = await second.client.call('tasks.workspace', { task_id })
    expect(status).toBe('ready')
    expect(await repository.git(['-C', path, 'show', 'HEAD:shared.txt'])).toBe('theirs')
    const again = await second.client.call('tasks.transition', { task_id, status: 'merging', version: back.version })
    expect(again.task.status).toBe('done')
    return answer === 'died'
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** The usual run dies before the mark, with the base moved but not the task, and while the worktree is made. */
const last = process.env['COPSE_ALL_CRASHES'] === '1' ? Infinity : 3

test('undoes a merge whole or not at all when it is killed at any commit', async () => {
  let deaths = 0
  for (let at = 1; at <= last && (await undoAndDie({ at, when: 'before' })); at += 1) deaths += 1
  expect(deaths).toBeGreaterThan(2)
})
