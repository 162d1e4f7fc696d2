import { appendFile } from 'node:fs/promises'
import { startKillableApp } from './killable-app.ts'
import { RunnerJourney, type EndedRun } from './runner-journey.ts'
import type { RunnerWorld } from './runner-world.ts'
import { seededRandom } from './seeded-random.ts'

export const kills = Number(process.env['COPSE_RUNNER_KILLS'] ?? 4)
const seed = Number(process.env['COPSE_RUNNER_KILL_SEED'] ?? 11)
/** The file to which each round is added, for a table of many. */
const roundsFile = process.env['COPSE_RUNNER_KILL_ROUNDS']
const killsPerTask = 5

/** How long so many kills may take, in milliseconds. */
export const killsLimitMs = 240_000 + kills * 60_000

/** What was killed in one round, and what came of it, by kind. */
export interface KillRound {
  readonly runner: string
  readonly seed: number
  readonly kills: readonly string[]
  readonly ended: readonly EndedRun[]
  readonly missing: readonly string[]
  /** What was not as it must be. */
  readonly failure: string | null
}

/** Lets tasks on a kind of runner go through so many kills in all. */
export async function survive(runner: string, createWorld: (seed: number) => Promise<RunnerWorld>): Promise<void> {
  const order = seededRandom(seed)
  for (let left = kills, round = 0; left > 0; round += 1) {
    const count = Math.min(left, killsPerTask)
    left -= count
    await using world = await createWorld(seed + round)
    const kinds = ['service', ...world.kinds]
    const journey = new RunnerJourney(world, await startKillableApp(world.dataDir))
    const note = async (failure: string | null): Promise<void> => {
      if (roundsFile === undefined) return
      const { ended, missing } = journey
      const killed = journey.kills.map(({ kind }) => kind)
      const one = { runner, seed: seed + round, kills: killed, ended, missing, failure } satisfies KillRound
      await appendFile(roundsFile, `${JSON.stringify(one)}\n`)
    }
    try {
      await journey.begin()
      // The first kills are one of each kind.
      const kindOf = (at: number) => (round === 0 ? kinds[(at + seed) % kinds.length] : null) ?? order.pick(kinds)
      // What isn't there at its moment can't be killed.
      for (let at = 0; journey.kills.length < count - 1 && at < 2 * count; at += 1) await journey.kill(kindOf(at))
      await journey.finish(kindOf(count - 1))
      await journey.check()
      await note(null)
    } catch (error) {
      await note(error instanceof Error ? error.message : String(error))
      throw error
    } finally {
      await journey.app[Symbol.asyncDispose]()
    }
  }
}
