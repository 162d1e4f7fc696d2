import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { reachEngine } from '../../../src-main/containers/ground.ts'
import type { RunnerId } from '../../../src-shared/contract/ids.ts'
import { containersOf } from '../../helpers/containers-of.ts'
import { useTestEngine } from '../../helpers/container-job.ts'
import { startEngineService } from '../../helpers/engine-service.ts'
import { startJob } from '../../helpers/job.ts'
import { present } from '../../helpers/present.ts'

const found = await useTestEngine()

test.skipIf(found === null)('adds a container as a runner, checks it, and runs a claim there', async () => {
  const { engine, image } = present(found)
  await using job = await startJob()
  const { client } = job.running
  const config = { engine, image }
  const { id: runner_id } = await client.call('runners.create', { name: 'Box', kind: 'container', config })
  const { runner, steps } = await client.call('runners.check', { runner_id })
  expect(steps.filter(({ ok }) => !ok)).toEqual([])
  // An image without agents is no reason to run nothing there.
  expect(steps.find(({ name }) => name === 'agents')?.message).toContain('runs anyway')
  expect(runner).toMatchObject({ state: 'ready', last_error: null })

  const agent = await job.agent('cat /etc/copse-test-image > image.txt; git add -A; git commit -qm "Work"')
  const task = await job.task({ review_config: { ci_steps: ['cat /etc/copse-test-image'] } })
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id, overrides: { runner_ids: [runner_id] } })
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  const [execution] = await job.executions(task.id)
  expect(execution).toMatchObject({ runner_id, status: 'succeeded' })
  const { items: reviews } = await client.call('tasks.reviews', { task_id: task.id })
  expect(reviews[0]?.step_results[0]?.output_tail.trim()).toBe(image)
  expect(await containersOf(present(found), job.running.dataDir)).toEqual([])

  // An image that isn't there is told in words, with what to do.
  const lacking = await client.call('runners.create', {
    name: 'Lacking',
    kind: 'container',
    config: { engine, image: 'localhost/copse-test/nothing:1' },
  })
  const checked = await client.call('runners.check', { runner_id: lacking.id })
  expect(checked.runner.state).toBe('unreachable')
  expect(checked.steps.at(-1)).toMatchObject({ name: 'image', ok: false })
  expect(checked.steps.at(-1)?.fix).toContain('pull')
})

test.skipIf(found?.engine !== 'podman')(
  'is told how programs end by an engine at an address that is Podman',
  async () => {
    await using service = await startEngineService()
    await using job = await startJob()
    const { client } = job.running
    const config = { engine: service.url, image: present(found).image }
    const { id: runner_id } = await client.call('runners.create', { name: 'Box', kind: 'container', config })
    const { runner } = await client.call('runners.check', { runner_id })
    expect(runner).toMatchObject({ state: 'ready', last_error: null })
    await job.settings({ runner_ids: [runner_id as RunnerId] })
    const task = await job.task()
    // Docker's client says 0 of all programs whose containers Podman removes.
    await job.claim(task, await job.agent('sleep 0.2; exit 7'))
    await job.running.taskWhere(task.id, ({ error_annotation }) => error_annotation !== null)
    expect(await job.executions(task.id)).toMatchObject([{ status: 'failed', exit_code: 7 }])
  },
)

test('refuses a client of Docker that reaches Podman and can’t say how programs end', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'copse-docker-'))
  const client = join(folder, 'docker')
  await writeFile(client, `#!/bin/sh\n[ "$1" = version ] && echo '[{"Name":"Podman Engine"}]'; exit 0\n`, {
    mode: 0o755,
  })
  const path = { PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` }
  await expect(reachEngine('docker', { signal: AbortSignal.timeout(20_000) }, path)).rejects.toThrow(
    'Docker’s client reaches Podman here, and is not told how programs end. Choose the engine podman for this runner.',
  )
  await rm(folder, { recursive: true })
})
