import { expect, test } from 'vitest'
import { createLane, type Lane, type LaneEnd, type LaneWork } from '../../../src-main/landing/lane.ts'
import type { RunEnd } from '../../../src-main/landing/run-end.ts'
import type { MergeOnto } from '../../../src-main/ports/target-mover.ts'
import { seededRandom, type SeededRandom } from '../../helpers/seeded-random.ts'

// A repository in which a tree is a set of tasks. Some pairs and some single tasks break the checks,
// some pairs conflict. Time is a queue of possible events, taken in any order.

interface World {
  readonly random: SeededRandom
  readonly collide: ReadonlySet<string>
  readonly broken: Set<string>
  readonly conflict: ReadonlySet<string>
  /** Tasks that people want to land on a red base too. */
  readonly forced: ReadonlySet<string>
  base: string
  /** Every commit that the branch has pointed at, and who moved it there. */
  readonly moves: { readonly to: string; readonly by: 'lane' | 'person' }[]
  readonly passed: Set<string>
  /** Commits by a person. */
  readonly persons: Set<string>
  readonly later: (() => void)[]
}

const parts = (tree: string) => tree.split('+')
const pair = (one: string, other: string) => [one, other].toSorted().join('/')
const somePair = (tree: string, pairs: ReadonlySet<string>) =>
  parts(tree).some((one) => parts(tree).some((other) => one !== other && pairs.has(pair(one, other))))
const isGood = (world: World, tree: string) =>
  !parts(tree).some((one) => world.broken.has(one)) && !somePair(tree, world.collide)

/** Resolves at a random later time, or when it is stopped. */
function soon<T>(world: World, answer: () => T, signal?: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  signal?.addEventListener('abort', () => reject(new Error('stopped')), { once: true })
  world.later.push(() => resolve(answer()))
  return promise
}

const tipOf = (tree: string) => ({ commit: tree, tree, parents: [] })

function work(world: World): LaneWork<string> {
  const run = (tree: string, signal: AbortSignal): Promise<RunEnd> =>
    soon(
      world,
      () => {
        if (!isGood(world, tree))
          return { kind: 'failed', step: 'check', exit_code: 1, output_tail: '', log_name: null }
        world.passed.add(tree)
        return { kind: 'passed', flaky: [] }
      },
      signal,
    )
  return {
    tip: () => Promise.resolve(world.base),
    prepare: (task, onto) => {
      const tree = parts(onto).includes(task) ? onto : `${onto}+${task}`
      if (somePair(tree, world.conflict)) return Promise.resolve({ kind: 'conflict', files: ['f'], hunks: [] })
      const made: MergeOnto = { target: tipOf(onto), head: tipOf(task), commit: tree, tree }
      return Promise.resolve({ kind: 'prepared', ...made })
    },
    stepsOf: (merged) => (merged.at(-1)?.merge.tree === merged[0]?.merge.target.commit ? [] : ['check']),
    run: (merged, _steps, signal) => run(merged.at(-1)?.merge.tree ?? '', signal),
    runBase: (commit, _steps, _task, signal) => run(commit, signal),
    move: (merged) =>
      soon(world, () => {
        if (merged[0]?.merge.target.commit !== world.base) return { kind: 'not_moved', why: 'it is elsewhere' } as const
        world.base = merged.at(-1)?.merge.commit ?? ''
        world.moves.push({ to: world.base, by: 'lane' })
        return { kind: 'moved' } as const
      }),
    landed: () => Promise.resolve(),
    landsOnRed: (task) => world.forced.has(task),
    touches: () => Promise.resolve(true),
  }
}

/** Runs everything that needs no more time. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

async function play(seed: number): Promise<void> {
  const random = seededRandom(seed)
  const tasks = Array.from({ length: 20 }, (_, index) => `t${index}`)
  const somePairs = (count: number) =>
    new Set(Array.from({ length: count }, () => pair(random.pick(tasks), random.pick(tasks))))
  const world: World = {
    random,
    collide: somePairs(4),
    broken: new Set(random.chance(0.5) ? [random.pick(tasks)] : []),
    conflict: somePairs(2),
    forced: new Set(random.chance(0.3) ? [random.pick(tasks)] : []),
    base: 'base',
    moves: [],
    passed: new Set(['base']),
    persons: new Set(['base']),
    later: [],
  }
  const speculative = random.chance(0.7)
  const limits = () => ({
    window: speculative ? 64 : 1,
    max_parallel: speculative ? 1 + Math.floor(random.between(0, 4)) : 1,
  })
  const ends = new Map<string, LaneEnd | 'gone'>()
  const waiting = new Map<string, AbortController>()
  const open = (): Lane<string> => createLane(work(world), { limits, onChange: () => undefined, now: () => 0 })
  let lane = open()
  const join = (task: string) => {
    const controller = new AbortController()
    waiting.set(task, controller)
    const own = lane
    void own.join(task, controller.signal).then(
      (end) => {
        // A killed process reports nothing.
        if (own !== lane) return
        waiting.delete(task)
        ends.set(task, controller.signal.aborted && end.kind === 'removed' ? 'gone' : end)
      },
      (error: unknown) => {
        if (own === lane) throw error
      },
    )
  }
  const unused = [...tasks]
  for (let round = 0; round < 4_000; round += 1) {
    await settle()
    if (unused.length === 0 && waiting.size === 0) break
    const dice = random.between(0, 1)
    if (dice < 0.3 && unused.length > 0) join(unused.shift() ?? '')
    else if (dice < 0.32 && waiting.size > 0) waiting.get(random.pick([...waiting.keys()]))?.abort()
    else if (dice < 0.33) {
      // A person breaks the base, or repairs what another broke.
      const [own, others] = [`p${round}`, parts(world.base).filter((one) => !world.broken.has(one))]
      if (random.chance(0.4)) world.broken.add(own)
      world.base = [...others, own].join('+')
      world.persons.add(world.base)
      world.moves.push({ to: world.base, by: 'person' })
    } else if (dice < 0.34) {
      // kill -9 removes the lane; tasks that waited or just moved join again.
      lane = open()
      world.later.length = 0
      const again = [...waiting].filter(([, controller]) => !controller.signal.aborted).map(([task]) => task)
      waiting.clear()
      for (const task of again) join(task)
    } else if (world.later.length > 0) world.later.splice(Math.floor(random.between(0, world.later.length)), 1)[0]?.()
  }
  expect([...waiting.keys()], 'everybody gets an answer').toEqual([])
  for (const { to, by } of world.moves) {
    if (by === 'person') continue
    const isForced = world.forced.has(parts(to).at(-1) ?? '')
    expect(isForced || world.passed.has(to) || world.persons.has(to), `${to} was tested`).toBe(true)
  }
  for (const [task, end] of ends) {
    // A person may have reverted it to repair the base.
    const isIn = world.moves.some(({ to }) => parts(to).includes(task))
    if (end === 'gone') continue
    // A task that was killed after its move joins again and learns that it has landed.
    expect(isIn, `${task}: ${end.kind}`).toBe(end.kind === 'landed')
    if (end.kind === 'failed') expect(isGood(world, `${end.base}+${task}`)).toBe(false)
    if (end.kind === 'failed') expect(isGood(world, end.base)).toBe(true)
  }
}

test('moves the base only to tested commits, and ends every task correctly, in 500 random schedules', async () => {
  for (let seed = 1; seed <= 500; seed += 1) await play(seed)
})
