import { expect, test, vi } from 'vitest'
import { arrival, createJourney, pack, travel, type Arrival } from '../../helpers/crash-journey.ts'
import { startKillableApp } from '../../helpers/killable-app.ts'
import type { Commits, CountCommits } from '../../helpers/die-at-commit.ts'

vi.setConfig({ testTimeout: 600_000 })

const all = process.env['COPSE_ALL_CRASHES'] === '1'
const atOnce = 3

type Death = NonNullable<CountCommits['die']>

/** The way without a crash: its history, and the number of its commits. */
async function undisturbed(): Promise<{ readonly arrival: Arrival; readonly commits: Commits }> {
  await using journey = await createJourney()
  await using app = await startKillableApp(journey.dataDir, 'mortal')
  const travelling = await pack(app, journey)
  app.count(null)
  await travel(app, travelling)
  return { arrival: await arrival(app, journey, travelling), commits: await app.commits() }
}

/** The same with a death and a restart; null if the way ended before that. */
async function withDeath(die: Death): Promise<Arrival | null> {
  await using journey = await createJourney()
  const first = await startKillableApp(journey.dataDir, 'mortal')
  const travelling = await pack(first, journey)
  first.count(die)
  // Only the death counts in an interrupted journey.
  const arrived = await Promise.race([
    travel(first, travelling).then(
      () => true,
      () => first.exited.then(() => false),
    ),
    first.exited.then(() => false),
  ])
  await first[Symbol.asyncDispose]()
  if (arrived) return null
  await using second = await startKillableApp(journey.dataDir)
  await travel(second, travelling)
  return await arrival(second, journey, travelling)
}

/**
 * Before and after every commit; in the usual run at every eighth commit that ends a transition or a step, including
 * the last.
 */
function deathsOf(commits: Commits): readonly Death[] {
  const numbers = commits.map((_, index) => index + 1)
  if (all) return numbers.flatMap((at) => [{ at, when: 'before' } as const, { at, when: 'after' } as const])
  const ends = numbers.filter((at) => commits[at - 1]).reverse()
  return ends.filter((_, index) => index % 8 === 0).map((at) => ({ at, when: 'after' as const }))
}

test('reaches the same history when killed at any commit between claim and clean-up', async () => {
  const { arrival: expected, commits } = await undisturbed()
  expect(expected).toMatchObject({
    reviews: ['2 passed 0', '1 failed 1'],
    workspace: 'cleaned',
    worktree: 'gone',
    merges: ['2 parents'],
    work: 'fixed',
    processes: [],
  })
  const deaths = deathsOf(commits)
  const differing: unknown[] = []
  const waiting = [...deaths]
  let died = 0
  const work = async () => {
    for (let die = waiting.shift(); die; die = waiting.shift()) {
      const came = await withDeath(die).catch((error: unknown) => ({ error: String(error) }))
      if (came === null) continue
      died += 1
      try {
        expect(came).toEqual(expected)
      } catch (error) {
        differing.push({ die, difference: error instanceof Error ? error.message : error, came })
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  console.info(
    `${died} of ${deaths.length} deaths at ${commits.length} commits, ${differing.length} with another history.`,
  )
  expect(differing).toEqual([])
  // The way varies by a commit or two about logs and processes.
  expect(died).toBeGreaterThanOrEqual(deaths.length - 2)
})
