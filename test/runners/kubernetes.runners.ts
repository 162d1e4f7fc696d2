import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BatchV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { expect, test } from 'vitest'
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
  /** The pods of this service's jobs that are there. */
  pods(): Promise<readonly string[]>
}

const config = new KubeConfig()
if (hasCluster) config.loadFromDefault()
const core = hasCluster ? config.makeApiClient(CoreV1Api) : null
const batch = hasCluster ? config.makeApiClient(BatchV1Api) : null
const labelSelector = 'copse.installation'

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
  const owned = made.move()
  return {
    job,
    runner_id,
    pods: async () =>
      ((await core?.listNamespacedPod({ namespace, labelSelector }))?.items ?? []).map(
        ({ metadata }) => metadata?.name ?? '',
      ),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
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
  await expect.poll(() => far.pods(), { timeout: 60_000 }).toEqual([])
})

test.runIf(hasCluster)('ends the pods that a killed service has left', async () => {
  await using far = await startPodJob()
  const { job } = far
  await checked(far)
  const task = await job.task()
  await job.claim(task, await job.agent('echo begun > begun.txt; sleep 600'))
  const seen = () => job.running.client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  await job.running.eventually(seen, ({ files }) => files.some(({ path }) => path === 'begun.txt'))
  job.running = await job.running.restart()
  await expect.poll(() => far.pods(), { timeout: 60_000 }).toEqual([])
  expect((await batch?.listNamespacedJob({ namespace, labelSelector }))?.items).toEqual([])
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
  const folder = await mkdtemp(join(tmpdir(), 'copse-kube-'))
  made.defer(() => rm(folder, { recursive: true, force: true }))
  const before = process.env['KUBECONFIG']
  made.defer(() => void (process.env['KUBECONFIG'] = before))
  process.env['KUBECONFIG'] = join(folder, 'config')
  await writeFile(process.env['KUBECONFIG'], weak.exportConfig())

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
