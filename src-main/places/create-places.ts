import type { ProjectId, RunnerId, TaskId } from '../../src-shared/contract/ids.ts'
import { hereRunner } from '../../src-shared/contract/runners.ts'
import type { Place, Places } from '../ports/place.ts'
import type { RunnerKinds } from '../ports/runner-kinds.ts'
import type { RunnerQueries, RunnerRecord } from '../ports/runner-queries.ts'

interface PlacesOptions {
  readonly here: Place
  readonly runners: Pick<RunnerQueries, 'get' | 'list'>
  readonly kinds: Pick<RunnerKinds, 'place'>
  /** The runner of a task's worktree; null while it has none. */
  readonly runnerOf: (task_id: TaskId) => RunnerId | null
  /** The runner of a project's checks and hooks; null: where the worktree is. */
  readonly ciRunnerOf: (project_id: ProjectId) => RunnerId | null
}

/** Returns the places of all runners; each is made when it is first asked for, and again when it has changed. */
export function createPlaces({ here, runners, kinds, runnerOf, ciRunnerOf }: PlacesOptions): Places {
  const made = new Map<RunnerId, { readonly of: string; readonly place: Place }>()
  const placeOf = (runner: RunnerRecord): Place => {
    if (runner.id === hereRunner) return here
    const of = JSON.stringify([runner.kind, runner.name, runner.config, runner.grace_seconds])
    const known = made.get(runner.id)
    if (known?.of === of) return known.place
    const place = kinds.place(runner)
    made.set(runner.id, { of, place })
    return place
  }
  const at: Places['at'] = (id) => {
    const runner = id === hereRunner ? null : runners.get(id)
    if (runner) return placeOf(runner)
    made.delete(id)
    return here
  }
  // Most services have no other runner, and are asked for every file that is read.
  const isAlone = () => runners.list().length === 1
  const of: Places['of'] = (task_id) => (isAlone() ? here : at(runnerOf(task_id) ?? hereRunner))
  return {
    here,
    at,
    of,
    scripts: ({ task_id, project_id }) => {
      const ci_runner = isAlone() ? null : ciRunnerOf(project_id)
      if (ci_runner !== null) return at(ci_runner).scripts
      return task_id === null ? here.scripts : of(task_id).scripts
    },
    all: () => runners.list().map(placeOf),
  }
}
