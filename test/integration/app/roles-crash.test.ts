import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startKillableApp } from '../../helpers/killable-app.ts'
import { createProcessBeacon, wait } from '../../helpers/process-beacon.ts'

test('keeps the new coder and the work when killed during a reset, and says what to do', async () => {
  await using beacon = await createProcessBeacon()
  await using repository = await createTestRepository({ files: { '.gitattributes': 'held.txt filter=held\n' } })
  await using cleanUp = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-crash-'))
  cleanUp.defer(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }))
  await using first = await startKillableApp(dataDir)
  const { client } = first
  const project = await client.call('projects.create', { name: 'Crash', repo_path: repository.path })
  const command = { command: 'echo w > held.txt; exit 1' }
  const agent = await client.call('agents.create', { name: 'Agent', executor: 'command', config: command })
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Survive' })
  const { workspace } = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  const path = workspace?.path ?? ''
  await first.eventually(
    () => client.call('tasks.get', { task_id: task.id }),
    (one) => one.error_annotation?.type === 'execution_failed',
  )
  // git runs this while uncommitted work is being kept.
  await repository.git(['config', 'filter.held.clean', beacon.hold('reset', `${wait}; cat`)])
  const repo_id = project.repos[0]?.id ?? ''
  await client.call('repos.update', { project_id: project.id, repo_id, path: repository.path })
  const role = { task_id: task.id, role: 'coder', agent_id: agent.id, reset_worktree: true }
  const answer = client.call('tasks.assign_role', role).then(
    () => 'answered',
    () => 'cut off',
  )
  await beacon.alive('reset')
  await first.kill()
  expect(await answer).toBe('cut off')
  await repository.git(['config', '--unset', 'filter.held.clean'])
  await beacon.release('reset')
  await beacon.gone('reset')

  await using second = await startKillableApp(dataDir)
  const left = await second.client.call('tasks.get', { task_id: task.id })
  expect(left).toMatchObject({
    status: 'todo',
    error_annotation: { type: 'workspace_error', reason: 'reset_pending', message: expect.stringContaining('again') },
  })
  expect(await readFile(join(path, 'held.txt'), 'utf8')).toBe('w\n')
  const { task: given } = await second.client.call('tasks.assign_role', role)
  expect(given.error_annotation).toBeNull()
  expect((await readdir(path)).toSorted()).toEqual(['.git', '.gitattributes'])
  const rescue = await repository.git(['for-each-ref', '--count=1', '--format=%(refname)', 'refs/svc/rescue'])
  expect(await repository.git(['show', `${rescue}:held.txt`])).toBe('w')
})
