import { expect, test } from 'vitest'
import type { Execution } from '../../../src-shared/contract/executions.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { addMember, register } from '../../helpers/membership.ts'
import { present } from '../../helpers/present.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'
import { addRunner, createTestRunners } from '../../helpers/test-runners.ts'

const start = (): Promise<Job> => startJob({ runnerKinds: createTestRunners().runnerKinds })

test('has this machine as a runner that no one can change', async () => {
  await using job = await start()
  const { client } = job.running
  const { items } = await client.call('runners.list', {})
  expect(items).toEqual([
    {
      id: 'here',
      name: 'This machine',
      kind: 'here',
      projects: null,
      capacity: null,
      running: 0,
      grace_seconds: 600,
      state: 'ready',
      last_error: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\.\d{3}Z$/),
    },
  ])
  expect(await refusalOf(client.call('runners.update', { runner_id: 'here', name: 'Mine' }))).toBe('validation_failed')
  expect(await refusalOf(client.call('runners.delete', { runner_id: 'here' }))).toBe('validation_failed')
  const gone = client.call('runners.get', { runner_id: job.project.id })
  expect(await refused(gone)).toMatchObject({ code: 'not_found', details: { resource: 'runner' } })
})

test('says which runners can’t be made yet, and takes no field that it does not know', async () => {
  await using job = await start()
  const { client } = job.running
  const make = (kind: 'here' | 'container' | 'ssh' | 'kubernetes' | 'daemon', config: object) =>
    refused(client.call('runners.create', { name: 'New', kind, config: config as { image: string } }))
  const image = { image: 'debian' }
  for (const [kind, config, message] of [
    ['here', image, 'This machine is always there. Choose another type.'],
    ['ssh', image, 'A runner over SSH needs a `host`.'],
    ['ssh', { host: '-oProxyCommand=x' }, 'Use no spaces, and no “-” in front.'],
    ['ssh', { host: 'far', image: 'debian' }, 'host'],
    ['container', { host: 'far' }, 'A container needs an `image`.'],
    ['kubernetes', image, 'A runner in Kubernetes needs a `namespace` and an `image`.'],
    ['kubernetes', { ...image, namespace: 'Agents' }, 'A name of lower-case letters'],
    ['kubernetes', { ...image, namespace: 'agents', host: 'far' }, 'host'],
    ['daemon', { shared: true }, 'This machine connects from its side'],
    ['container', { image: 'any', devcontainer: true }, 'Each project’s dev container has its own image.'],
    ['container', {}, 'Name the image of the container.'],
    ['container', { ...image, host: 'far' }, 'host'],
    ['container', { image: '--privileged' }, 'Use no spaces, and no “-” in front.'],
    ['container', { ...image, mounts: { read: ['/'] } }, 'An absolute path'],
  ] as const) {
    const refusal = await make(kind, config)
    expect(refusal.code).toBe('validation_failed')
    expect(JSON.stringify([refusal.message, refusal.details])).toContain(message)
  }
  const own = await make('container', { ...image, mounts: { write: [job.running.dataDir] } })
  expect(own).toMatchObject({ code: 'validation_failed', details: { issues: [{ path: 'config.mounts.write.0' }] } })
  const box = await addRunner(job.running, 'Box')
  expect(await refusalOf(client.call('runners.create', { name: 'BOX', kind: 'container', config: image }))).toBe(
    'validation_failed',
  )
  // What has no effect is not taken.
  const graced = { name: 'Graced', kind: 'container', config: image, grace_seconds: 60 } as const
  expect(await refusalOf(client.call('runners.create', graced))).toBe('validation_failed')
  expect(box).toMatchObject({
    capacity: 1,
    projects: null,
    config: { engine: null, image: 'any', devcontainer: false, network: 'open', setup: [] },
  })
})

test('shows a runner to all who are signed in, its configuration to admins only, and its changes as events', async () => {
  await using job = await start()
  const ann = await register(job.running, 'Ann')
  await addMember(job.running, job.project.id, ann.user_id, 'member')
  const seen: unknown[] = []
  const begun = Promise.withResolvers<void>()
  const follow = (async () => {
    for await (const item of ann.client.events({}, null, AbortSignal.timeout(100_000))) {
      if (item.kind === 'begun') begun.resolve()
      if (item.kind !== 'event' || item.event.type !== 'runner.updated') continue
      const { runner } = item.event.data
      seen.push(runner && [runner.name, runner.state, runner.running, runner.config])
      if (runner === null) return
    }
  })()
  await begun.promise
  const box = await addRunner(job.running, 'Box')
  expect(box.config).toMatchObject({ image: 'any' })
  expect(await ann.client.call('runners.get', { runner_id: box.id })).toEqual({ ...box, config: undefined })
  const runner_id = box.id
  const config = { image: 'x' }
  expect(await refusalOf(ann.client.call('runners.create', { name: 'Mine', kind: 'container', config }))).toBe(
    'admin_required',
  )
  expect(await refusalOf(ann.client.call('runners.update', { runner_id, capacity: 2 }))).toBe('admin_required')
  expect(await refusalOf(ann.client.call('runners.check', { runner_id }))).toBe('admin_required')
  expect(await refusalOf(ann.client.call('runners.delete', { runner_id }))).toBe('admin_required')
  const run = await begin(job, box.id)
  await job.running.client.call('executions.stop', { execution_id: run.id })
  await job.running.client.call('runners.delete', { runner_id: box.id })
  await follow
  expect(seen).toEqual([
    ['Box', 'unchecked', 0, undefined],
    ['Box', 'ready', 0, undefined],
    ['Box', 'ready', 1, undefined],
    ['Box', 'ready', 0, undefined],
    null,
  ])
})

test('keeps the configuration of a runner while runs use it, and the runner while something names it', async () => {
  await using job = await start()
  const { client } = job.running
  const box = await addRunner(job.running, 'Box')
  const remove = () => refused(client.call('runners.delete', { runner_id: box.id }))
  const run = await begin(job, box.id)
  expect(await remove()).toMatchObject({ code: 'runner_busy', details: { running: 1 } })
  const change = { runner_id: box.id, config: { image: 'other' } }
  expect(await refused(client.call('runners.update', change))).toMatchObject({ code: 'runner_busy' })
  const { name, capacity } = await client.call('runners.update', { runner_id: box.id, name: 'Crate', capacity: 3 })
  expect({ name, capacity }).toEqual({ name: 'Crate', capacity: 3 })
  await client.call('executions.stop', { execution_id: run.id })
  expect((await client.call('runners.update', change)).config).toMatchObject({ image: 'other' })

  await job.settings({ ci_runner: box.id })
  expect(await remove()).toMatchObject({ code: 'runner_busy', details: { projects: [job.project.id] } })
  await job.settings({ ci_runner: null })
  const pinned = await client.call('agents.create', {
    name: 'Pinned',
    executor: 'command',
    config: { command: 'true', runner_ids: [box.id] },
  })
  const named = await remove()
  expect(named).toMatchObject({ code: 'runner_busy', details: { agents: [pinned.id] } })
  expect(named.message).toBe('This runner is named by the agent Pinned. Choose another one there first.')
  await client.call('agents.delete', { agent_id: pinned.id })
  await client.call('runners.delete', { runner_id: box.id })
  // The worktree stays, and is used from here again.
  const workspace = await client.call('tasks.workspace', { task_id: run.task_id })
  expect(workspace).toMatchObject({ runner_id: 'here', status: 'ready' })
})

test('finds runners as they are after a restart, and checks them again', async () => {
  const runners = createTestRunners()
  const job = await startJob({ runnerKinds: runners.runnerKinds })
  const box = await addRunner(job.running, 'Box')
  runners.down.add('Box')
  job.running = await job.running.restart()
  await using _ = job
  const { last_error } = await job.running.eventually(
    () => job.running.client.call('runners.get', { runner_id: box.id }),
    ({ state }) => state === 'unreachable',
  )
  expect(last_error).toBe('Box does not answer. Start it.')
})

test('restarts a run on the runner of its claim, as another attempt', async () => {
  await using job = await start()
  const box = await addRunner(job.running, 'Box')
  const run = await begin(job, box.id)
  await job.running.client.call('executions.stop', { execution_id: run.id })
  await job.running.client.call('tasks.recover', { task_id: run.task_id, action: 'retry_execution' })
  const [again] = await job.running.eventually(
    () => job.executions(run.task_id),
    (all) => all[0]?.status === 'running' && all.length === 2,
  )
  expect(again).toMatchObject({ runner_id: box.id, attempt: 2 })
})

/** Starts a run that does not end. */
async function begin(job: Job, runner_id: string): Promise<Execution> {
  const { client } = job.running
  const agent = await job.agent('sleep 1000 & wait')
  const task = await job.task()
  const request = { task_id: task.id, agent_id: agent.id, overrides: { runner_ids: [runner_id] } }
  const { id } = present((await client.call('tasks.claim', request)).execution)
  return await job.running.eventually(
    () => client.call('executions.get', { execution_id: id }),
    ({ status }) => status === 'running',
  )
}
