import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { createJourney } from '../../helpers/crash-journey.ts'
import { startKillableApp } from '../../helpers/killable-app.ts'
import { processesIn } from '../../helpers/processes-in.ts'

test('ends leftovers of a killed service’s hook before it runs again', async () => {
  await using journey = await createJourney()
  const { dataDir, repository } = journey
  const seen = join(dataDir, 'seen.txt')
  const first = await startKillableApp(dataDir)
  const project = await first.client.call('projects.create', { name: 'Killed', repo_path: repository.path })
  // The first run detaches and stays; the second lists the processes.
  const command = [
    `if test -e '${seen}'; then`,
    // Ended processes may remain as zombies where nothing collects orphans.
    `case "$(ps -o stat= -p "$(cat '${seen}')")" in ''|Z*) echo gone ;; *) echo alive ;; esac; exit; fi`,
    `setsid sleep 600 & echo $! > '${seen}.new'; mv '${seen}.new' '${seen}'; wait`,
  ].join('\n')
  const lifecycle_hooks = { before_work: [{ type: 'script' as const, command, blocking: true, timeout_seconds: 600 }] }
  await first.client.call('projects.update_settings', { project_id: project.id, lifecycle_hooks })
  const config = { command: 'echo work > work.txt' }
  const agent = await first.client.call('agents.create', { name: 'Coder', executor: 'command', config })
  const task = await first.client.call('tasks.create', { project_id: project.id, title: 'Survive' })
  await first.client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  await vi.waitFor(() => readFile(seen), { timeout: 100_000 })
  await first.kill()
  await using second = await startKillableApp(dataDir)
  await second.eventually(
    () => second.client.call('tasks.get', { task_id: task.id }),
    ({ status }) => status === 'review',
  )
  const { items } = await second.client.call('tasks.hook_runs', { task_id: task.id })
  expect(items.map(({ status, stdout }) => [status, stdout])).toEqual([['succeeded', 'gone\n']])
  expect(processesIn([dataDir]).filter(({ command: line }) => line.includes('sleep'))).toEqual([])
})

test('ends leftovers of a hook test at the next start, and removes its worktree', async () => {
  await using journey = await createJourney()
  const { dataDir, repository } = journey
  const seen = join(dataDir, 'seen.txt')
  const first = await startKillableApp(dataDir)
  const project = await first.client.call('projects.create', { name: 'Tried', repo_path: repository.path })
  const command = `setsid sleep 600 & pwd > '${seen}.new'; mv '${seen}.new' '${seen}'; wait`
  const hook = { type: 'script' as const, command, blocking: false, timeout_seconds: 600 }
  const attempt = first.client.call('projects.test_hook', { project_id: project.id, event: 'on_work_start', hook })
  const cutOff = expect(attempt).rejects.toThrow()
  const scratch = (await vi.waitFor(() => readFile(seen, 'utf8'), { timeout: 100_000 })).trim()
  await first.kill()
  await cutOff
  expect(processesIn([scratch]).length).toBeGreaterThan(0)
  await using second = await startKillableApp(dataDir)
  await second.eventually(
    () => Promise.resolve(processesIn([scratch])),
    (left) => left.length === 0,
  )
  await expect(access(scratch)).rejects.toThrow('ENOENT')
})
