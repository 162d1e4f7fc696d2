import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BatchV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { expect, test } from 'vitest'
import { openCluster } from '../../src-main/places/kubernetes/cluster.ts'
import { jobManifest, labels, podFolder } from '../../src-main/places/kubernetes/job-manifest.ts'
import { createBadLink } from '../helpers/bad-link.ts'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import type { OperationInput } from '../../src-shared/contract/operations.ts'
import { ensureBuilt } from '../helpers/built.ts'
import { startJob, type Job } from '../helpers/job.ts'

const hasCluster = process.env['KUBECONFIG'] !== undefined
if (!hasCluster)
  console.log('Left out: Kubernetes. Set KUBECONFIG, and COPSE_TEST_IMAGE to an image with git and Node 24.')
const image = process.env['COPSE_TEST_IMAGE'] ?? 'localhost/copse-test/base:1'
const namespace = process.env['COPSE_TEST_NAMESPACE'] ?? 'default'
/** The image is on the node. */
const pod = { containers: [{ name: 'copse', imagePullPolicy: 'Never' }] }

type Config = OperationInput<'runners.create'>['config']

interface PodJob extends AsyncDisposable {
  readonly job: Job
  readonly runner_id: RunnerId
  /** Finds what the runner has in the cluster. */
  readonly labelSelector: string
  /** The pods of its jobs that are there. */
  pods(): Promise<readonly string[]>
}

const config = new KubeConfig()
if (hasCluster) config.loadFromDefault()
const core = hasCluster ? config.makeApiClient(CoreV1Api) : null
const batch = hasCluster ? config.makeApiClient(BatchV1Api) : null

async function startPodJob(more: Partial<Config> = {}): Promise<PodJob> {
  await ensureBuilt()
  await using made = new AsyncDisposableStack()
  const job = made.use(await startJob())
  const { client } = job.running
  const { id } = await client.call('runners.create', {
    name: 'Cluster',
    kind: 'kubernetes',
    capacity: 4,
    config: { namespace, image, pod, ...more } as Config,
  })
  const runner_id = id
  await job.settings({ runner_ids: [runner_id] })
  const labelSelector = `${labels.runner}=${runner_id}`
  // What a test that has failed leaves.
  made.defer(async () => {
    await batch?.deleteCollectionNamespacedJob({ namespace, labelSelector, propagationPolicy: 'Background' })
  })
  const owned = made.move()
  return {
    job,
    runner_id,
    labelSelector,
    pods: async () =>
      ((await core?.listNamespacedPod({ namespace, labelSelector }))?.items ?? []).map(
        ({ metadata }) => metadata?.name ?? '',
      ),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Has the service find this configuration of Kubernetes. */
async function useConfig(own: KubeConfig): Promise<AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'copse-kube-'))
  const before = process.env['KUBECONFIG']
  process.env['KUBECONFIG'] = join(folder, 'config')
  await writeFile(process.env['KUBECONFIG'], own.exportConfig())
  return {
    [Symbol.asyncDispose]: async () => {
      process.env['KUBECONFIG'] = before
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const checked = async ({ job, runner_id }: PodJob) => await job.running.client.call('runners.check', { runner_id })

test.runIf(hasCluster)('takes a task from a claim to the base branch in pods, and leaves none', async () => {
  await using far = await startPodJob({ setup: ['printf "#!/bin/sh\\necho tool" > bin/tool && chmod +x bin/tool'] })
  const { job } = far
  const { client } = job.running
  const { runner, steps } = await checked(far)
  expect(steps.map(({ name, ok }) => [name, ok])).toEqual([
    ['reach', true],
    ['rights', true],
    ['pod', true],
    ['git', true],
    ['node', true],
    ['disk', true],
    ['clock', true],
    ['agents', true],
  ])
  expect(runner.state).toBe('ready')
  const agent = await job.agent(
    'if [ -e one.txt ]; then echo louder > two.txt; else tool > one.txt; hostname > where.txt; fi; git add -A; git commit -qm Work; echo left > left.txt',
  )
  const task = await job.task({ review_config: { ci_steps: ['cat left.txt; hostname'] } })
  await job.claim(task, agent)
  const passed = (attempt: number) =>
    job.running.taskWhere(
      task.id,
      (one) => one.review_passed_at !== null && !one.entry_barrier && one.review_summary?.attempt_number === attempt,
    )
  await passed(1)
  await client.call('tasks.verdict', { task_id: task.id, verdict: 'fail', feedback: 'Say it louder' })
  const reviewed = await passed(2)
  const { items: reviews } = await client.call('tasks.reviews', { task_id: task.id })
  const outputs = reviews.flatMap(({ step_results }) => step_results.map(({ output_tail }) => output_tail))
  expect(outputs).toHaveLength(2)
  for (const text of outputs) expect(text).toMatch(/left\ncopse-/)
  const { version } = reviewed
  const { task: merged } = await client.call('tasks.transition', { task_id: task.id, status: 'merging', version })
  expect(merged.status).toBe('done')
  expect(await job.repository.git(['show', 'main:one.txt'])).toBe('tool')
  expect(await job.repository.git(['show', 'main:two.txt'])).toBe('louder')
  expect(await job.repository.git(['show', 'main:where.txt'])).toMatch(/^copse-/)
  await expect.poll(() => far.pods(), { timeout: 60_000 }).toEqual([])
})

test.runIf(hasCluster)('stops a run, and ends its pod', async () => {
  await using far = await startPodJob()
  const { job } = far
  await checked(far)
  const task = await job.task()
  const { execution } = await job.claim(task, await job.agent('echo begun > begun.txt; sleep 600'))
  const seen = () => job.running.client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  await job.running.eventually(seen, ({ files }) => files.some(({ path }) => path === 'begun.txt'))
  await job.running.client.call('executions.stop', { execution_id: execution.id })
  await job.running.eventually(
    () => job.running.client.call('executions.get', { execution_id: execution.id }),
    ({ status }) => status === 'stopped',
  )
  await expect.poll(() => far.pods(), { timeout: 60_000 }).toEqual([])
})

test.runIf(hasCluster)(
  'loses a run whose pod is deleted, starts nothing in a second pod, and keeps what arrived',
  async () => {
    await using far = await startPodJob()
    const { job } = far
    const { client } = job.running
    await checked(far)
    const agent = await job.agent(
      'if [ -e sent.txt ]; then cat sent.txt > again.txt; git add -A; git commit -qm Work; else echo sent > sent.txt; sleep 600; fi',
    )
    const task = await job.task()
    const { execution } = await job.claim(task, agent)
    const seen = () => client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
    await job.running.eventually(seen, ({ files }) => files.some(({ path }) => path === 'sent.txt'))
    const [name] = await far.pods()
    await core?.deleteNamespacedPod({ namespace, name: name ?? '', gracePeriodSeconds: 0 })
    const lost = await job.running.eventually(
      () => client.call('executions.get', { execution_id: execution.id }),
      ({ status }) => status === 'lost',
    )
    expect(lost.status).toBe('lost')
    await expect.poll(() => far.pods(), { timeout: 60_000 }).toEqual([])
    await client.call('tasks.recover', { task_id: task.id, action: 'retry_execution' })
    await job.running.taskWhere(task.id, (one) => one.status === 'review')
    expect((await seen()).files.map(({ path }) => path)).toEqual(expect.arrayContaining(['again.txt', 'sent.txt']))
  },
)

test.runIf(hasCluster)('says why no pod starts: an image, no room, a quota, a namespace, a context', async () => {
  await using far = await startPodJob()
  const { client } = far.job.running
  const failed = async (change: Partial<Config>) => {
    await client.call('runners.update', {
      runner_id: far.runner_id,
      config: { namespace, image, pod, ...change } as Config,
    })
    const { runner, steps } = await checked(far)
    expect(runner.state).toBe('unreachable')
    return steps.at(-1)
  }
  expect(await failed({ image: 'localhost/copse-test/none:1' })).toMatchObject({
    name: 'pod',
    message: expect.stringContaining('is not on the node') as string,
  })
  expect(await failed({ context: 'nowhere' })).toMatchObject({
    name: 'reach',
    message: expect.stringContaining('no context nowhere') as string,
  })
  expect(await failed({ namespace: 'copse-nowhere' })).toMatchObject({
    name: 'pod',
    message: expect.stringContaining('copse-nowhere') as string,
  })
  await expect.poll(() => far.pods(), { timeout: 180_000 }).toEqual([])
})

/** What the agent said, each line once. */
async function saidBy({ running }: Job, execution_id: string): Promise<readonly string[]> {
  const name = `agent-${execution_id}.jsonl`
  const { data_base64 } = await running.client.call('executions.read_log', { execution_id, name })
  const lines = Buffer.from(data_base64, 'base64').toString('utf8').trim().split('\n')
  const entries = lines.map((line) => JSON.parse(line) as { type: string; text?: string })
  return entries.flatMap(({ type, text = '' }) => (type === 'stdout' ? text.trim().split('\n') : []))
}

test.runIf(hasCluster)(
  'goes on with a run in its pod when the service restarts, and ends the pods of jobs that are over',
  async () => {
    await using far = await startPodJob()
    const { job, runner_id, labelSelector } = far
    await checked(far)
    const agent = await job.agent(
      'echo one; echo sent > sent.txt; git add -A; git commit -qm First; until [ -e go.txt ]; do echo tick >> ticks.txt; sleep 0.2; done; rm go.txt; echo two; git add -A; git commit -qm Second',
    )
    const task = await job.task()
    const { execution } = await job.claim(task, agent)
    const seen = () => job.running.client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
    await job.running.eventually(seen, ({ files }) => files.some(({ path }) => path === 'ticks.txt'))
    const [pod = ''] = await far.pods()
    const [own] = (await batch?.listNamespacedJob({ namespace, labelSelector }))?.items ?? []
    const installation = own?.metadata?.labels?.[labels.installation] ?? ''

    await job.running.app.close()
    expect(await far.pods()).toEqual([pod])
    // Of a job that no one holds, and of a check in which the service was killed.
    for (const job_id of [randomUUID(), `check-${randomUUID()}`])
      await batch?.createNamespacedJob({
        namespace,
        body: jobManifest({ config: { namespace, image }, installation, runner_id, job_id }),
      })
    job.running = await job.running.restart()
    const read = () => job.running.client.call('executions.get', { execution_id: execution.id })
    expect(await read()).toMatchObject({ status: 'running', attempt: 1 })
    await job.running.eventually(read, ({ link }) => link?.state === 'connected')
    await expect.poll(() => far.pods(), { timeout: 60_000 }).toEqual([pod])
    const cluster = await openCluster({ namespace, image })
    const go = ['touch', `${podFolder}/tasks/${task.id}/worktree/go.txt`]
    expect(await cluster.run(pod, go, { signal: AbortSignal.timeout(20_000) })).toMatchObject({ exit_code: 0 })
    await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
    expect(await read()).toMatchObject({ status: 'succeeded', attempt: 1 })
    expect(await saidBy(job, execution.id)).toEqual(['one', 'two'])
    expect(await job.executions(task.id)).toHaveLength(1)
    expect((await seen()).files.map(({ path }) => path).sort()).toEqual(['sent.txt', 'ticks.txt'])
    await expect.poll(() => far.pods(), { timeout: 60_000 }).toEqual([])
  },
)

test.runIf(hasCluster)('loses a run whose pod was deleted while Copse was closed, and keeps what arrived', async () => {
  await using far = await startPodJob()
  const { job } = far
  await checked(far)
  const task = await job.task()
  const { execution } = await job.claim(task, await job.agent('echo sent > sent.txt; sleep 600'))
  const seen = () => job.running.client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  await job.running.eventually(seen, ({ files }) => files.some(({ path }) => path === 'sent.txt'))
  const [name = ''] = await far.pods()
  await job.running.app.close()
  await core?.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 })
  await expect.poll(() => far.pods(), { timeout: 60_000 }).not.toContain(name)
  job.running = await job.running.restart()
  const lost = await job.running.eventually(
    () => job.running.client.call('executions.get', { execution_id: execution.id }),
    ({ status }) => status === 'lost',
  )
  expect(lost.error).toMatch(/^Its (pod is gone|runner has ended)\. Its work is kept as far as it arrived\./)
  expect((await seen()).files.map(({ path }) => path)).toEqual(['sent.txt'])
  await expect.poll(() => far.pods(), { timeout: 60_000 }).toEqual([])
  expect((await batch?.listNamespacedJob({ namespace, labelSelector: far.labelSelector }))?.items).toEqual([])
})

test.runIf(hasCluster)('keeps a run queued whose cluster can’t be reached when it starts', async () => {
  await using made = new AsyncDisposableStack()
  const link = made.use(createBadLink())
  const real = new URL(config.getCurrentCluster()?.server ?? '')
  const through = new KubeConfig()
  through.loadFromDefault()
  const cluster = { ...through.getCurrentCluster(), server: `https://127.0.0.1:${await link.to(Number(real.port))}` }
  through.clusters = [cluster as (typeof through.clusters)[number]]
  made.use(await useConfig(through))
  const far = made.use(await startPodJob())
  const { job, runner_id } = far
  const { client } = job.running
  expect((await checked(far)).runner.state).toBe('ready')
  await expect.poll(() => far.pods(), { timeout: 60_000 }).toEqual([])

  link.close()
  const task = await job.task()
  const { execution } = await job.claim(task, await job.agent('echo one > one.txt; git add -A; git commit -qm Work'))
  const { last_error } = await job.running.eventually(
    () => client.call('runners.get', { runner_id }),
    ({ state }) => state === 'unreachable',
  )
  expect(last_error).toMatch(/^The cluster can’t be reached: .*ECONN/)
  const read = () => client.call('executions.get', { execution_id: execution.id })
  expect(await read()).toMatchObject({ status: 'queued', attempt: 1, error: null })

  link.open()
  await checked(far)
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  expect(await job.executions(task.id)).toMatchObject([{ id: execution.id, status: 'succeeded', attempt: 1 }])
})

test.runIf(hasCluster)('isn’t ready in a namespace without room, nor without the rights that it needs', async () => {
  await using made = new AsyncDisposableStack()
  const name = `copse-test-${process.pid}`
  await core?.createNamespace({ body: { metadata: { name } } })
  made.defer(async () => void (await core?.deleteNamespace({ name })))
  await core?.createNamespacedResourceQuota({
    namespace: name,
    body: { metadata: { name: 'few' }, spec: { hard: { pods: '0' } } },
  })
  await core?.createNamespacedServiceAccount({ namespace: name, body: { metadata: { name: 'weak' } } })
  const readToken = async () => {
    const { items = [] } = (await core?.listNamespacedSecret({ namespace: name })) ?? {}
    return items.find(({ metadata }) => metadata?.name?.startsWith('weak-token'))?.data?.['token'] ?? ''
  }
  await expect.poll(readToken, { timeout: 30_000 }).not.toBe('')
  const token = Buffer.from(await readToken(), 'base64').toString()
  const weak = new KubeConfig()
  weak.loadFromDefault()
  weak.addUser({ name: 'weak', token })
  weak.addContext({ name: 'weak', user: 'weak', cluster: weak.getCurrentCluster()?.name ?? '' })
  made.use(await useConfig(weak))

  const far = made.use(await startPodJob())
  const { client } = far.job.running
  const last = async (change: Partial<Config>) => {
    const changed = { namespace: name, image, pod, ...change } as Config
    await client.call('runners.update', { runner_id: far.runner_id, config: changed })
    return (await checked(far)).steps.at(-1)
  }
  expect(await last({})).toMatchObject({
    name: 'pod',
    message: expect.stringContaining('The quota of the namespace is used up') as string,
  })
  expect(await last({ context: 'weak' })).toMatchObject({
    name: 'rights',
    message: expect.stringContaining('create jobs, list jobs, delete jobs, list pods') as string,
  })
})
