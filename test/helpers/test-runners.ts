import type { Place } from '../../src-main/ports/place.ts'
import { RunnerUnreachableError, type RunnerKinds } from '../../src-main/ports/runner-kinds.ts'
import type { Runner } from '../../src-shared/contract/runners.ts'
import { eventually } from './eventually.ts'
import type { RunningApp } from './running-app.ts'

/** Containers as the engine sees them: the worktrees are here, the processes where `far` starts them. */
export interface TestRunners {
  /** For `runApp`. */
  readonly runnerKinds: (here: Place) => RunnerKinds
  /** The names of the runners whose check fails. */
  readonly down: Set<string>
  /** The names of those that are gone when a run starts, which no check knows yet. */
  readonly gone: Set<string>
  /** How often a place was made, by runner. */
  readonly made: Map<string, number>
}

/** `far`: where processes are started; by default here, too. */
export function createTestRunners(far?: Pick<Place, 'runs' | 'scripts' | 'containment'>): TestRunners {
  const runners: TestRunners = {
    down: new Set(),
    gone: new Set(),
    made: new Map(),
    runnerKinds: (here) => ({
      check: ({ name }) => {
        const ok = !runners.down.has(name)
        runners.gone.delete(name)
        const message = ok ? `${name} answers.` : `${name} does not answer.`
        return Promise.resolve([{ name: 'reach', ok, message, fix: ok ? null : 'Start it.' }])
      },
      place: ({ name }) => {
        runners.made.set(name, (runners.made.get(name) ?? 0) + 1)
        const { runs, scripts, containment } = far ?? here
        const start: Place['runs']['start'] = (profile, run, options) => {
          if (runners.gone.has(name)) return Promise.reject(new RunnerUnreachableError(`${name} is gone.`))
          return runs.start(profile, run, options)
        }
        return { ...here, scripts, containment, runs: { ...runs, start } }
      },
      listen: () => undefined,
      tidy: () => Promise.resolve(),
      offers: () => Promise.resolve([]),
      lose: () => undefined,
      end: () => Promise.resolve(),
      close: () => Promise.resolve(),
    }),
  }
  return runners
}

/** Adds a container and waits for the end of its check. */
export async function addRunner(
  { client }: Pick<RunningApp, 'client'>,
  name: string,
  more: { readonly capacity?: number; readonly projects?: string[] } = {},
): Promise<Runner> {
  const { id } = await client.call('runners.create', { name, kind: 'container', config: { image: 'any' }, ...more })
  const read = () => client.call('runners.get', { runner_id: id })
  return await eventually(client, read, ({ state }) => state !== 'unchecked')
}
