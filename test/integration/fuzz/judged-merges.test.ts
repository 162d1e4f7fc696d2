import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { present } from '../../helpers/present.ts'
import { seededRandom } from '../../helpers/seeded-random.ts'

// Diffs, verdicts, moves of the base, changes of the worktree and merges against each other: what a person judged is
// what is merged, and no commit is lost.

const rounds = Number(process.env['COPSE_RACES'] ?? 8)
const seed = Number(process.env['COPSE_RACES_SEED'] ?? 7)

/** What one round did, to tell what went wrong, and that something was tried. */
interface Round {
  readonly said: string[]
  /** The trees that a pass was given for, and let in. */
  readonly passed: Set<string>
  /** The commits of the base branch, and of the task's own. */
  readonly base: string[]
  readonly own: string[]
}

/** Runs a step of a participant; a refusal is an answer. */
async function step(round: Round, name: string, work: () => Promise<string>): Promise<void> {
  try {
    round.said.push(`${name}: ${await work()}`)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    round.said.push(`${name}: ${error.code}`)
    expect(error.status, `${name}: ${error.message}`).toBeLessThan(500)
  }
}

/** A task in review with a commit of its own. */
async function reviewed(job: Job, own: string, title: string): Promise<{ readonly task: Task; readonly path: string }> {
  const { client } = job.running
  const { id: task_id } = await job.task({ title })
  const { workspace } = await client.call('tasks.claim', { task_id })
  const { path } = present(workspace)
  await job.repository.commit('Work', { [own]: 'first\n' }, path)
  await job.running.taskWhere(task_id, (one) => !one.entry_barrier)
  const { version } = await client.call('tasks.get', { task_id })
  await client.call('tasks.transition', { task_id, status: 'review', version })
  const task = await job.running.taskWhere(task_id, (one) => one.status === 'review' && !one.entry_barrier)
  return { task, path }
}

async function race(job: Job, number: number): Promise<Round> {
  const { client } = job.running
  const { repository } = job
  const random = seededRandom(seed * 1_000_000 + number)
  const own = `work-${number}.txt`
  const { task, path } = await reviewed(job, own, `Task ${number}`)
  const round: Round = { said: [], passed: new Set(), base: [], own: [] }
  const read = () => client.call('tasks.get', { task_id: task.id })
  const treeNow = async () => (await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })).tree
  const seen = { tree: await treeNow(), version: (await read()).version }
  let writes = 0
  const moves: Readonly<Record<string, () => Promise<string>>> = {
    look: async () => {
      seen.tree = await treeNow()
      return seen.tree ?? 'none'
    },
    pass: async () => {
      const tree = seen.tree
      if (tree === null) return 'nothing seen'
      await client.call('tasks.verdict', { task_id: task.id, verdict: 'pass', tree })
      round.passed.add(tree)
      return tree
    },
    move: async () => {
      const { version } = await read()
      const tree = seen.tree
      if (tree === null) return 'nothing seen'
      // Counted before it is let in: it is a verdict on that tree.
      const { task: moved } = await client.call('tasks.transition', {
        task_id: task.id,
        status: 'merging',
        version,
        tree,
      })
      round.passed.add(tree)
      return moved.status
    },
    edit: async () => {
      writes += 1
      await writeFile(join(path, own), `edited ${writes}\n`).catch(() => undefined)
      return 'written'
    },
    commit: async () => {
      writes += 1
      const made = async () => {
        await writeFile(join(path, own), `committed ${writes}\n`)
        await repository.git(['commit', '-qam', `Own ${writes}`], { cwd: path })
        round.own.push(await repository.git(['rev-parse', 'HEAD'], { cwd: path }))
      }
      return made().then(
        () => 'committed',
        () => 'could not',
      )
    },
    base: async () => {
      const made = async () =>
        repository.commit(`Base ${round.base.length}`, { [`base-${number}-${round.base.length}.txt`]: 'b\n' })
      return made().then(
        (commit) => {
          round.base.push(commit)
          return 'moved'
        },
        () => 'could not',
      )
    },
  }
  // A worktree that always changes would never be merged.
  const names = ['look', 'look', 'pass', 'move', 'move', 'edit', 'commit', 'base']
  const participant = async () => {
    const count = Math.floor(random.between(1, 4))
    for (let index = 0; index < count; index++) {
      const name = random.pick(names)
      await step(round, name, moves[name] ?? (() => Promise.resolve('')))
    }
  }
  await Promise.all([participant(), participant(), participant()])
  const settled = () =>
    job.running.taskWhere(task.id, (one) => one.status !== 'merging' || one.error_annotation !== null)
  await settled()
  await checkRound(job, round, { id: task.id, own, number })
  // In peace, what is left is merged too.
  if ((await read()).status === 'review') {
    await step(round, 'look', present(moves['look']))
    await step(round, 'move', present(moves['move']))
    await settled()
  }
  await checkRound(job, round, { id: task.id, own, number })
  return round
}

/** What is on the base branch is what was judged, and everything that a person committed. */
async function checkRound(
  { running, repository }: Job,
  round: Round,
  { id, own, number }: { readonly id: string; readonly own: string; readonly number: number },
): Promise<void> {
  const about = `round ${number} of seed ${seed}\n${round.said.join('\n')}`
  const { status } = await running.client.call('tasks.get', { task_id: id })
  const merged = await repository.git(['show', `main:${own}`]).catch(() => null)
  const holders = (commit: string, where: string) =>
    repository.git(['for-each-ref', '--contains', commit, '--format=%(refname)', where])
  for (const commit of round.base) expect(await holders(commit, 'refs/heads/main'), about).not.toBe('')
  for (const commit of round.own) expect(await holders(commit, 'refs'), about).not.toBe('')
  expect(merged !== null, about).toBe(status === 'done')
  if (merged === null) return
  const judged = await Promise.all([...round.passed].map((tree) => repository.git(['show', `${tree}:${own}`])))
  expect(judged, about).toContain(merged)
  if (!round.said.includes('merged')) round.said.push('merged')
}

test(
  `merges what was judged, in ${rounds} races`,
  async () => {
    await using job = await startJob()
    const outcomes: string[] = []
    let number = 0
    const lane = async () => {
      while (number < rounds) outcomes.push(...(await race(job, ++number)).said)
    }
    // Three tasks at a time, which merge into one branch.
    await Promise.all([lane(), lane(), lane()])
    const count = (what: RegExp) => outcomes.filter((one) => what.test(one)).length
    if (process.env['COPSE_RACES'] !== undefined) console.log(tally(outcomes))
    // Of each there was something: a test of nothing would pass.
    for (const what of [/^merged$/, /^base: moved$/, /^move: done$/, /: work_changed$/])
      expect(count(what), String(what)).toBeGreaterThan(0)
  },
  240_000 + rounds * 2_000,
)

function tally(outcomes: readonly string[]): Record<string, number> {
  const counted: Record<string, number> = {}
  for (const one of outcomes.map((text) => text.replace(/[0-9a-f]{40}/, 'tree'))) counted[one] = (counted[one] ?? 0) + 1
  return counted
}
