import { expect, test } from 'vitest'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { pushAsRita, repository, startPullRequestJob, type PullRequestJob } from '../../helpers/pull-request-job.ts'
import { seededRandom, type SeededRandom } from '../../helpers/seeded-random.ts'
import { sweep } from '../../helpers/sweep.ts'

// People merge, squash, close, reopen and push to a pull request in any order, while its task works on: no commit of the
// task's is lost, and none of theirs that Copse put something else in the place of.

const seeds = Array.from({ length: Number(process.env['COPSE_PULL_ORDERS'] ?? 4) }, (_, index) => index + 1)
const steps = 8

/** Writes a line of its own in each run. */
const agent = 'date +%s%N >> greeting.txt'

interface World {
  readonly at: PullRequestJob
  readonly task: Task
  readonly branch: string
  readonly random: SeededRandom
  /** Commits of the task's branch here. */
  readonly own: Set<string>
  /** Those of Rita at the forge that she has not replaced herself. */
  readonly theirs: Set<string>
  readonly said: string[]
}

/** Does what may be refused; a fault of the service is none. */
async function may(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error
    expect(error.status, error.message).toBeLessThan(500)
  })
}

const tipThere = async ({ at, branch }: World) => (await at.git.refs(repository))[`refs/heads/${branch}`] ?? null

/** Waits until nothing happens to a task by itself: it is at a gate, done, or waits for a person. */
const rest = ({ at, task }: World) =>
  at.job.running.taskWhere(
    task.id,
    ({ status, entry_barrier, error_annotation }) =>
      error_annotation !== null || (['pull_request', 'done'].includes(status) && !entry_barrier),
  )

/** What people do at the forge and here. */
const acts: Readonly<Record<string, (world: World) => Promise<unknown>>> = {
  'pushes on top': async (world) => {
    if ((await tipThere(world)) !== null)
      world.theirs.add(await pushAsRita(world.at, world.branch, `rita-${world.said.length}.txt`))
  },
  'pushes something else': async (world) => {
    world.theirs.clear()
    const file = `rita-${world.said.length}.txt`
    world.theirs.add(await pushAsRita(world.at, world.branch, file, { from: 'main' }))
  },
  merges: (world) => mergeThere(world, 'merge'),
  squashes: (world) => mergeThere(world, 'squash'),
  rebases: (world) => mergeThere(world, 'rebase'),
  closes: async ({ at, task }) => {
    const pull = await at.get(task).catch(() => null)
    if (pull?.state === 'open') at.forge.people.close(repository, pull.number)
  },
  reopens: async ({ at, task }) => {
    const pull = await at.get(task).catch(() => null)
    if (pull?.state === 'closed') at.forge.people.reopen(repository, pull.number)
  },
  'wants more': ({ at, task }) =>
    may(at.job.running.client.call('tasks.feedback', { task_id: task.id, message: 'Another line.' })),
  decides: async ({ at, task, random }) => {
    const { client } = at.job.running
    const { error_annotation } = await client.call('tasks.get', { task_id: task.id })
    const actions = error_annotation?.recovery_actions ?? []
    if (actions.length > 0) await may(client.call('tasks.recover', { task_id: task.id, action: random.pick(actions) }))
  },
}

async function mergeThere({ at, task }: World, method: 'merge' | 'squash' | 'rebase'): Promise<void> {
  const pull = await at.get(task).catch(() => null)
  // What conflicts nobody can merge there either.
  if (pull?.state === 'open') await at.forge.people.merge(repository, pull.number, method).catch(() => null)
}

/** Notes the commits that there are now. */
async function look(world: World): Promise<void> {
  const { at, branch, own } = world
  const tip = await at.job.repository.git(['rev-parse', '--quiet', '--verify', branch]).catch(() => '')
  if (tip.trim() !== '') own.add(tip.trim())
}

/** Returns the commits of a set that no ref here or at the forge leads to. */
async function lost({ at }: World, commits: ReadonlySet<string>): Promise<readonly string[]> {
  const found = await Promise.all(
    [...commits].map(async (commit) => {
      const args = ['for-each-ref', '--contains', commit, '--format=%(refname)']
      const here = await at.job.repository.git(args).catch(() => '')
      const there = await at.git.git(repository, args).catch(() => '')
      return here.trim() === '' && there.trim() === '' ? commit : null
    }),
  )
  return found.filter((commit) => commit !== null)
}

test.each(sweep(seeds))('keeps every commit in any order of what people do (seed %i)', async (seed) => {
  await using at = await startPullRequestJob()
  const task = await at.atGate(agent)
  const { branch } = await at.job.running.client.call('tasks.workspace', { task_id: task.id })
  const random = seededRandom(seed)
  const world: World = { at, task, branch, random, own: new Set(), theirs: new Set(), said: [] }
  const names = Object.keys(acts)
  for (let step = 0; step < steps; step++) {
    await look(world)
    const name = random.pick(names)
    world.said.push(name)
    await acts[name]?.(world)
    await may(at.sync(task))
    await rest(world)
    await look(world)
    const about = world.said.join(', ')
    expect(await lost(world, world.own), about).toEqual([])
    expect(await lost(world, world.theirs), about).toEqual([])
  }
})
