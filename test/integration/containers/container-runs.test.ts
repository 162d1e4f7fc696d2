import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { checkContainerRunner } from '../../../src-main/containers/check-runner.ts'
import { containersOf } from '../../helpers/containers-of.ts'
import { runnerConfig, startContainerJob, useTestEngine, type ContainerJob } from '../../helpers/container-job.ts'
import { present } from '../../helpers/present.ts'
import { programsWith } from '../../helpers/programs.ts'

const found = await useTestEngine()
const engine = () => present(found)
const signal = () => AbortSignal.timeout(100_000)

/** Puts a program into the tools that says a version, and otherwise what it was started with. */
const fakeClaude = `cat > "$SVC_TOOLS_DIR/bin/claude" <<'E'
#!/bin/sh
if [ "$1" = --version ]; then echo '9.8.7 (Claude Code)'; exit; fi
echo "image=$(cat /etc/copse-test-image) home=$HOME" > claude.txt; exit 1
E
chmod +x "$SVC_TOOLS_DIR/bin/claude"`

const allEnded = (job: ContainerJob, task_id: string) =>
  job.running.eventually(
    () => job.executions(task_id),
    (all) => all.length > 0 && all.every(({ status }) => status !== 'queued' && status !== 'running'),
  )

describe.skipIf(found === null)('runs in containers', () => {
  test('are stopped whole, and keep their work and their agent’s home', async () => {
    await using job = await startContainerJob(runnerConfig(engine()))
    const { client, dataDir } = job.running
    const agent = await job.agent(
      `if [ -e ~/kept ]; then echo again > again.txt; exit 0; fi
touch ~/kept; trap 'echo saved > saved.txt; exit 0' TERM; touch ready.txt
env -i setsid sleep 4714 & while :; do sleep 0.05; done`,
    )
    const task = await job.task()
    const { path, execution } = await job.claim(task, agent)
    await vi.waitUntil(() => existsSync(join(path, 'ready.txt')), { timeout: 60_000, interval: 20 })
    expect(await containersOf(engine(), dataDir)).toHaveLength(1)
    await client.call('executions.stop', { execution_id: execution.id })
    await allEnded(job, task.id)
    expect(await readFile(join(path, 'saved.txt'), 'utf8')).toBe('saved\n')
    expect(await containersOf(engine(), dataDir)).toEqual([])
    const second = await job.task()
    const { path: other } = await job.claim(second, agent)
    await allEnded(job, second.id)
    expect(await readFile(join(other, 'again.txt'), 'utf8')).toBe('again\n')
  })

  test.skipIf(found?.engine !== 'podman')('say that they were killed when what holds them was', async () => {
    await using job = await startContainerJob(runnerConfig(engine()))
    const task = await job.task()
    const { path } = await job.claim(task, await job.agent('touch ready.txt; while :; do sleep 0.05; done'))
    await vi.waitUntil(() => existsSync(join(path, 'ready.txt')), { timeout: 60_000, interval: 20 })
    const ids = await containersOf(engine(), job.running.dataDir)
    const holders = programsWith(present(ids[0])).filter(({ words }) => words[0]?.endsWith('conmon'))
    expect(holders).toHaveLength(1)
    // Podman's client then ends with the code of a command that was not found.
    for (const { pid } of holders) process.kill(pid, 'SIGKILL')
    await allEnded(job, task.id)
    expect(await job.executions(task.id)).toMatchObject([
      { status: 'failed', exit_code: 137, error: expect.stringContaining('was killed from outside Copse') as string },
    ])
    expect(await containersOf(engine(), job.running.dataDir)).toEqual([])
  })

  test('have a terminal of their own', async () => {
    await using job = await startContainerJob(runnerConfig(engine()))
    const agent = await job.running.client.call('agents.create', {
      name: 'In a terminal',
      executor: 'command',
      config: { command: 'test -t 0 && stty size > size.txt; cat /etc/copse-test-image > image.txt', terminal: true },
    })
    const task = await job.task()
    const { path } = await job.claim(task, agent)
    await allEnded(job, task.id)
    expect(await readFile(join(path, 'size.txt'), 'utf8')).toBe('32 120\n')
    expect(await readFile(join(path, 'image.txt'), 'utf8')).toBe(engine().image)
  })

  test('are of the programs in the image, not of this machine’s', async () => {
    await using job = await startContainerJob(runnerConfig(engine(), { setup: [fakeClaude] }))
    const { runs } = job.place
    const detected = await runs.detect({ signal: signal() })
    const of = (executor: string) => present(detected.find((one) => one.executor === executor))
    expect(of('claude-code')).toMatchObject({ installed: true, version: '9.8.7', signed_in: null })
    expect(of('claude-code').path).toMatch(/\/tools\/[0-9a-f]+\/bin\/claude$/)
    expect(of('codex')).toMatchObject({ installed: false, path: null })
    const runOf = async (executor: 'claude-code' | 'codex') => {
      const agent = await job.running.client.call('agents.create', { name: executor, executor, config: {} })
      const task = await job.task()
      const { path } = await job.claim(task, agent)
      await allEnded(job, task.id)
      const [execution] = await job.executions(task.id)
      return { agent, path, execution: present(execution) }
    }
    const claude = await runOf('claude-code')
    expect(await readFile(join(claude.path, 'claude.txt'), 'utf8')).toBe(
      `image=${engine().image} home=${join(job.running.dataDir, 'runners', 'box', 'homes', claude.agent.id)}\n`,
    )
    const codex = await runOf('codex')
    expect(JSON.stringify(codex.execution)).toContain('Codex was not found')
  })
})

describe.skipIf(found === null)('the check of a container runner', () => {
  const check = (more: Partial<Parameters<typeof checkContainerRunner>[0]>, apiUrl: string | null, dataDir: string) =>
    checkContainerRunner(runnerConfig(engine(), more), {
      ...{ dataDir, apiUrl, hostsProblem: null },
      ...{ agents: ['git', 'claude'], signal: signal() },
    })

  test('says of each step whether it works, and what to do', async () => {
    await using job = await startContainerJob(runnerConfig(engine()))
    const { url, dataDir } = job.running
    for (const network of ['open', 'none'] as const) {
      const steps = await check({ network }, url, dataDir)
      expect(steps.filter(({ ok }) => !ok)).toEqual([])
      expect(steps.map(({ name }) => name)).toEqual([
        ...['engine', 'image', 'start', 'git', 'file owner', 'disk', 'copse', 'agents'],
      ])
      expect(steps.find(({ name }) => name === 'copse')?.message).toBe('A container reaches Copse.')
      expect(steps.at(-1)?.message).toBe('The image has git.')
    }
    const [, missing] = await check({ image: 'localhost/copse-test/absent:1' }, url, dataDir)
    expect(missing).toMatchObject({ name: 'image', ok: false })
    expect(missing?.fix).toContain('pull localhost/copse-test/absent:1')
    const [unreachable] = await check({ engine: 'unix:///nowhere/engine.sock' }, url, dataDir)
    expect(unreachable).toMatchObject({ name: 'engine', ok: false })
    expect(unreachable?.message).toContain('can’t be reached')
    const hosts = await check({ network: 'hosts' }, url, dataDir)
    expect(hosts.filter(({ ok }) => !ok)).toEqual([])
    expect(hosts.at(-1)?.name).toBe('hosts')
    expect(await containersOf(engine(), dataDir)).toEqual([])
  })
})
