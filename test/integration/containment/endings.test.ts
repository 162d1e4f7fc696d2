import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { spawnTerminal } from '../../../src-main/agents/command/terminal/spawn-terminal.ts'
import { childEnvironment } from '../../../src-main/platform/process/process-environment.ts'
import { readProcessTable } from '../../../src-main/platform/process/process-table.ts'
import { spawnTree } from '../../../src-main/platform/process/process.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startJob } from '../../helpers/job.ts'
import { containmentIn, folderOutside, isContainable } from './test-containment.ts'
import { startKillableApp } from '../../helpers/killable-app.ts'
import { createProcessBeacon } from '../../helpers/process-beacon.ts'

const root = folderOutside('endings')
const cwd = join(root, 'worktree')
const containment = containmentIn(root)
const runnable = isContainable(containment)

beforeAll(() => {
  mkdirSync(cwd)
})
afterAll(async () => {
  await containment.close()
  rmSync(root, { recursive: true, force: true })
})

async function start(script: string) {
  const box = (await containment.box({ level: 'worktree', cwd })) ?? undefined
  const tree = await spawnTree('bash', ['-c', script], { cwd, env: childEnvironment({}), stdin: 'ignore', box })
  const lines = createInterface({ input: tree.stdout })[Symbol.asyncIterator]()
  tree.stderr.resume()
  return { tree, line: async () => (await lines.next()).value }
}

it.runIf(runnable)('ends a contained run with its service, even when that is killed', async () => {
  await using beacon = await createProcessBeacon()
  await using repository = await createTestRepository()
  const dataDir = mkdtempSync(join(tmpdir(), 'copse-contained-kill-'))
  try {
    await using first = await startKillableApp(dataDir)
    const project = await first.client.call('projects.create', { name: 'Kill', repo_path: repository.path })
    // Only its box can find a process that left its group and cleared its environment.
    const hidden = beacon.hold('hidden', 'sleep 1000')
    const command = `env -i PATH="$PATH" HOME=/ setsid ${hidden} & ${beacon.hold('agent', `trap '' HUP TERM; sleep 1000`)}`
    const config = { command, containment: 'worktree' as const }
    const agent = await first.client.call('agents.create', { name: 'Held', executor: 'command', config })
    const task = await first.client.call('tasks.create', { project_id: project.id, title: 'Survive' })
    await first.client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    await beacon.alive('agent')
    await beacon.alive('hidden')
    await first.kill()
    await beacon.gone('agent')
    await beacon.gone('hidden')
  } finally {
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
})

it.runIf(runnable && process.platform === 'linux')(
  'ends the bridges to the proxy of a run with hosts when its service is killed',
  async () => {
    await using repository = await createTestRepository()
    const dataDir = mkdtempSync(join(tmpdir(), 'copse-contained-kill-'))
    try {
      await using service = await startKillableApp(dataDir)
      const project = await service.client.call('projects.create', { name: 'Kill', repo_path: repository.path })
      const config = {
        command: 'touch started; sleep 1000',
        containment: 'worktree_and_hosts' as const,
        hosts: ['example.com'],
      }
      const agent = await service.client.call('agents.create', { name: 'Held', executor: 'command', config })
      const task = await service.client.call('tasks.create', { project_id: project.id, title: 'Survive' })
      const { workspace } = await service.client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
      await expect.poll(() => existsSync(join(workspace?.path ?? '', 'started')), { timeout: 100_000 }).toBe(true)
      const bridges = (await readProcessTable()).filter(
        ({ pid, ppid }) => ppid === service.pid && readFileSync(`/proc/${pid}/comm`, 'utf8') === 'socat\n',
      )
      expect(bridges).not.toEqual([])
      await service.kill()
      await expect.poll(() => bridges.filter(({ pid }) => existsSync(`/proc/${pid}`)), { timeout: 100_000 }).toEqual([])
    } finally {
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
    }
  },
)

it.runIf(runnable)('tests an agent as it would run', async () => {
  await using job = await startJob()
  const config = { command: `cat ${job.running.dataDir}/copse.db; echo "tried $PWD"`, containment: 'worktree' as const }
  const agent = await job.running.client.call('agents.create', { name: 'Tried', executor: 'command', config })
  const tried = await job.running.client.call('agents.test', { agent_id: agent.id })
  const said = tried.entries.map((entry) => ('text' in entry ? entry.text : '')).join('')
  expect(said).toMatch(/No such file[^]*tried |tried [^]*No such file/)
})

describe.runIf(runnable)('a contained program that is told to end', () => {
  it('has time to save its work', async () => {
    const { tree, line } = await start(`trap 'echo saved > saved.txt; exit 7' TERM; echo ready; sleep 1000 & wait`)
    expect(await line()).toBe('ready')
    await tree.stop()
    expect(readFileSync(join(cwd, 'saved.txt'), 'utf8')).toBe('saved\n')
    expect((await tree.ended).exit_code).toBe(7)
  })

  it('may end before others that still save', async () => {
    const saver = `trap 'sleep 0.3; echo late > late.txt; exit' TERM; echo ready; sleep 1000 & wait`
    const { tree, line } = await start(`bash -c "${saver}" & sleep 1000`)
    expect(await line()).toBe('ready')
    await tree.stop()
    expect(readFileSync(join(cwd, 'late.txt'), 'utf8')).toBe('late\n')
  })

  it('is killed with all its processes if it does not listen', async () => {
    const alive = join(cwd, 'alive')
    const { tree, line } = await start(
      `trap '' TERM; (setsid bash -c "trap '' TERM; while :; do date > ${alive}; sleep 0.05; done" &); echo ready; sleep 1000`,
    )
    expect(await line()).toBe('ready')
    await tree.stop({ graceMs: 300 })
    expect((await tree.ended).survivors).toEqual([])
    rmSync(alive, { force: true })
    const after = await start('sleep 0.3; echo over')
    expect(await after.line()).toBe('over')
    await after.tree.ended
    expect(existsSync(alive)).toBe(false)
  })

  it('gets the keys and the size of its terminal', async () => {
    const box = (await containment.box({ level: 'worktree', cwd })) ?? undefined
    const script = `trap 'echo "size $(stty size)"' WINCH; trap 'echo interrupted; exit 0' INT; echo ready; while :; do read -t 0.1 -r; done`
    const terminal = await spawnTerminal('bash', ['-c', script], { cwd, env: childEnvironment({}), box })
    const lines = createInterface({ input: terminal.output })[Symbol.asyncIterator]()
    const line = async () => String((await lines.next()).value).trim()
    expect(await line()).toBe('ready')
    terminal.resize(101, 33)
    expect(await line()).toBe('size 33 101')
    terminal.write('\u0003')
    expect(await line()).toMatch(/interrupted$/)
    expect((await terminal.ended).exit_code).toBe(0)
  })
})
