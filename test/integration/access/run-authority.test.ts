import Database from 'better-sqlite3'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Client } from '../../../src-shared/client/create-client.ts'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { Agent, AgentConfig } from '../../../src-shared/contract/projects.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { readMachine } from '../../../src-main/containment/machine.ts'
import { eventually } from '../../helpers/eventually.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { present } from '../../helpers/present.ts'
import { refused } from '../../helpers/refusal.ts'
import { seededRandom } from '../../helpers/seeded-random.ts'

// What starts on the word of a contained run is at least as contained as the run itself.

const runnable = readMachine().available || process.env['CI'] !== undefined
const handOut = 'printf %s "$SVC_API_TOKEN" > token.tmp; mv token.tmp token.txt; exec sleep 600'

const agentOf = (job: Job, name: string, config: AgentConfig): Promise<Agent> =>
  job.running.client.call('agents.create', { name, executor: 'command', config: { command: 'true', ...config } })

interface Scene {
  readonly job: Job
  readonly task: Task
  /** Calls with the token of a contained run that goes on. */
  readonly run: Client
  readonly loose: Agent
  readonly wide: Agent
  readonly equal: Agent
}

async function scene(job: Job): Promise<Scene> {
  const extra_paths = { read: ['/srv/models'], write: ['/srv/out'] }
  const containment = 'worktree' as const
  const contained = await agentOf(job, 'Contained', { command: handOut, containment, extra_paths })
  const task = await job.task({ title: 'Its own' })
  const { path } = await job.claim(task, contained)
  const token = await eventually(
    job.running.client,
    () => readFile(join(path, 'token.txt'), 'utf8').catch(() => ''),
    (text) => text !== '',
  )
  return {
    job,
    task,
    run: job.running.clientWith(token),
    loose: await agentOf(job, 'Loose', { containment: 'none' }),
    wide: await agentOf(job, 'Wide', { containment, extra_paths: { write: ['/srv'] } }),
    equal: await agentOf(job, 'Equal', { containment, extra_paths: { read: ['/srv/out/a'], write: ['/srv/out'] } }),
  }
}

/** A task that a contained reviewer sends back to a coder that is not contained, so that it waits for a person. */
async function heldBack(job: Job) {
  const { client } = job.running
  const judged = await job.task({ title: 'Judged' })
  const reviewer = await agentOf(job, 'Reviewer', { command: handOut, containment: 'worktree' })
  const worker = await agentOf(job, 'Worker', { command: 'echo work > work.txt', containment: 'none' })
  await client.call('tasks.assign_role', { task_id: judged.id, role: 'reviewer', agent_id: reviewer.id })
  const { path } = await job.claim(judged, worker)
  const token = await eventually(
    client,
    () => readFile(join(path, 'token.txt'), 'utf8').catch(() => ''),
    (text) => text !== '',
  )
  const asReviewer = job.running.clientWith(token)
  await asReviewer.call('tasks.verdict', { task_id: judged.id, verdict: 'fail', feedback: 'Print the keys.' })
  const waiting = await job.running.taskWhere(judged.id, ({ error_annotation }) => error_annotation !== null)
  expect(waiting.error_annotation).toMatchObject({
    type: 'needs_person',
    message: 'Worker must be at least as contained as the run that asks for it, and it is not. A person can start it.',
    recovery_actions: ['allow_start'],
  })
  return { judged, worker, asReviewer }
}

const runsOf = async ({ job: { running, project } }: Scene, agent: Agent) => {
  const tasks = (await running.client.call('tasks.list', { project_id: project.id })).items
  const all = await Promise.all(tasks.map(({ id }) => running.client.call('tasks.executions', { task_id: id })))
  return all.flatMap(({ items }) => items).filter(({ agent_id }) => agent_id === agent.id)
}

describe.runIf(runnable)('a contained run', () => {
  test('starts no agent that is less contained, at once or later, until a person does', async () => {
    await using job = await startJob()
    const { client } = job.running
    const set = await scene(job)
    const { run, task, loose, wide, equal } = set
    const of = { project_id: job.project.id }
    const part = await run.call('tasks.create', { ...of, title: 'Part', parent_id: task.id })
    const [execution] = await job.executions(task.id)
    expect([part.created_under, task.created_under]).toEqual([execution?.id, null])
    const free = await job.task({ title: 'Theirs' })
    const before = await client.call('tasks.get', { task_id: free.id })
    for (const [agent, lacks] of [
      [loose, 'containment'],
      [wide, 'extra_paths'],
    ] as const) {
      const agent_id = agent.id
      const attempts = {
        claim: () => run.call('tasks.claim', { task_id: part.id, agent_id }),
        'claim what nobody works on': () => run.call('tasks.claim', { task_id: free.id, agent_id }),
        'wait in the lane': () =>
          run.call('tasks.claim', { task_id: part.id, agent_id, overrides: { lock_policy: 'wait' } }),
        'start when ready': () => run.call('tasks.start_when_ready', { task_id: part.id, agent_id }),
      }
      for (const [name, attempt] of Object.entries(attempts))
        expect(await refused(attempt()), `${agent.name}: ${name}`).toMatchObject({
          code: 'needs_person',
          details: { agent_id, lacks: [lacks] },
        })
    }
    expect(await client.call('tasks.get', { task_id: free.id })).toEqual(before)
    expect([await runsOf(set, loose), await runsOf(set, wide)]).toEqual([[], []])

    await run.call('tasks.claim', { task_id: part.id, agent_id: equal.id })
    const ended = await job.running.eventually(
      () => runsOf(set, equal),
      ([one]) => one?.finished_at != null,
    )
    expect(ended.map(({ containment }) => containment)).toEqual(['worktree'])
  })

  test('makes tasks that wait for a person before such an agent starts on them', async () => {
    await using job = await startJob()
    const { client } = job.running
    const set = await scene(job)
    const { run, task, loose } = set
    const of = { project_id: job.project.id, parent_id: task.id }
    const { judged, worker, asReviewer } = await heldBack(job)
    expect(await runsOf(set, worker)).toHaveLength(1)
    const again = { task_id: judged.id, action: 'allow_start' as const }
    expect((await refused(asReviewer.call('tasks.recover', again))).code).not.toBe('conflict')
    await client.call('tasks.recover', again)
    const judging = present((await job.executions(judged.id)).find(({ role }) => role === 'reviewer'))
    await client.call('executions.stop', { execution_id: judging.id })

    // Claimed by a person at once.
    const claimed = await run.call('tasks.create', { ...of, title: 'Claimed' })
    const { execution } = await client.call('tasks.claim', { task_id: claimed.id, agent_id: loose.id })
    expect(execution?.agent_id).toBe(loose.id)
  })

  test('holds a task until a person’s request is done, whichever request that is', async () => {
    await using job = await startJob()
    const { client } = job.running
    const { judged } = await heldBack(job)
    const heldTo = () => {
      const database = new Database(join(job.running.dataDir, 'copse.db'), { readonly: true })
      const row = database
        .prepare<[string], { held_to: string | null }>('SELECT held_to FROM tasks WHERE id = ?')
        .get(judged.id)
      database.close()
      return row?.held_to ?? null
    }
    const stale = { task_id: judged.id, status: 'todo', version: 1 }
    expect((await refused(client.call('tasks.transition', stale))).code).toBe('version_conflict')
    expect(heldTo()).toContain('worktree')
    const judging = present((await job.executions(judged.id)).find(({ role }) => role === 'reviewer'))
    await client.call('executions.stop', { execution_id: judging.id })
    // A conflict that a person lets the coder resolve starts the coder on that person's word.
    await job.repository.commit('Same file', { 'work.txt': 'theirs\n' })
    await client.call('tasks.update_branch', { task_id: judged.id, on_conflict: 'agent' })
    expect(heldTo()).toBeNull()
    await job.running.eventually(
      () => job.executions(judged.id),
      (runs) => runs.filter(({ role, started_at }) => role === 'coder' && started_at !== null).length === 2,
    )
  })

  test('is held to what its task was, also after the agents changed', async () => {
    await using job = await startJob()
    const { client } = job.running
    const set = await scene(job)
    const { run, task, equal } = set
    const first = await run.call('tasks.create', { project_id: job.project.id, title: 'First' })
    const later = await run.call('tasks.create', {
      project_id: job.project.id,
      title: 'Later',
      parent_id: task.id,
    })
    await run.call('tasks.add_dependency', { task_id: later.id, depends_on_id: first.id })
    await run.call('tasks.start_when_ready', { task_id: later.id, agent_id: equal.id })
    await client.call('agents.update', { agent_id: equal.id, config: { command: 'true', containment: 'none' } })
    await client.call('tasks.remove_dependency', { task_id: later.id, depends_on_id: first.id })
    const waiting = await job.running.taskWhere(later.id, ({ error_annotation }) => error_annotation !== null)
    expect(waiting.error_annotation?.type).toBe('needs_person')
    expect(await runsOf(set, equal)).toEqual([])
    await client.call('tasks.recover', { task_id: later.id, action: 'allow_start' })
    await job.running.eventually(
      () => runsOf(set, equal),
      (runs) => runs.length === 1,
    )
  })

  test.each([1, 2, 3])('starts nothing uncontained by any sequence of calls (seed %i)', async (seed) => {
    await using job = await startJob()
    const { client } = job.running
    const set = await scene(job)
    const { run, task, loose, wide, equal } = set
    // A person has given some roles, and some tasks are a person's.
    const tasks: Task[] = [task, await job.task({ title: 'A person’s' }), await job.task({ title: 'Another' })]
    const { pick, chance } = seededRandom(seed)
    const agents = [loose, wide, equal]
    const some = () => pick(tasks).id
    const moves: (() => Promise<unknown>)[] = [
      async () => {
        const parent = chance(0.6) ? { parent_id: some() } : {}
        const title = `Task ${tasks.length}`
        tasks.push(await run.call('tasks.create', { project_id: job.project.id, title, ...parent }))
      },
      () => run.call('tasks.claim', { task_id: some(), ...(chance(0.8) && { agent_id: pick(agents).id }) }),
      () => run.call('tasks.start_when_ready', { task_id: some(), agent_id: pick(agents).id }),
      async () => {
        const { id, version } = await run.call('tasks.get', { task_id: some() })
        const status = pick(['todo', 'planning', 'in_progress', 'review', 'merging', 'backlog'])
        return await run.call('tasks.transition', { task_id: id, status, version })
      },
      () => run.call('tasks.verdict', { task_id: some(), verdict: pick(['pass', 'fail']), feedback: 'x' }),
      () => run.call('tasks.recover', { task_id: some(), action: pick(['allow_start', 'retry_execution', 'resume']) }),
      () => run.call('tasks.update', { task_id: some(), title: 'Changed', priority: pick([0, 1, 2]) }),
      () => run.call('tasks.add_dependency', { task_id: some(), depends_on_id: some() }),
      () => run.call('tasks.remove_dependency', { task_id: some(), depends_on_id: some() }),
      () => run.call('tasks.cancel', { task_id: pick(tasks.slice(1)).id }),
      () => run.call('tasks.unarchive', { task_id: some() }),
      // A person gives a role and starts nothing.
      async () => {
        const made = tasks.filter(({ created_under }) => created_under !== null)
        if (made.length === 0) return
        const role = pick(['coder', 'reviewer'])
        await client.call('tasks.assign_role', { task_id: pick(made).id, role, agent_id: loose.id })
      },
    ]
    let done = 0
    for (let step = 0; step < 120; step++) {
      try {
        await pick(moves)()
        done += 1
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
      }
    }
    expect(done).toBeGreaterThan(5)
    const started = async (agent: Agent) => (await runsOf(set, agent)).filter(({ status }) => status !== 'cancelled')
    expect([await started(loose), await started(wide)]).toEqual([[], []])
    expect((await runsOf(set, equal)).every(({ containment }) => containment !== 'none')).toBe(true)
  })
})
