import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { inFull, isWithin } from '../platform/path-names.ts'
import { privateFoldersIn } from '../platform/process/run-folders.ts'
import type { BoxedCommand } from '../platform/process/box.ts'
import { ContainmentUnavailable, type BoxRequest, type Containment } from '../ports/containment.ts'
import type { GitView, ViewMount } from '../ports/git-views.ts'
import type { ContainerConfig } from './container-config.ts'

export interface MountedRun {
  readonly request: BoxRequest
  readonly command: BoxedCommand
  readonly view: GitView | null
  readonly temporary: string
  readonly home: string
  readonly mounts: ContainerConfig['mounts']
  readonly pathProblem: Containment['pathProblem']
}

/**
 * Returns what a run's container sees of this machine, each at its own path: its worktree with a view of the common git
 * folder, its temporary folder, its home, what was written for it, and what the runner and the agent's owner allow.
 * Throws `ContainmentUnavailable` if one of these can't be.
 */
export function mountsOfRun(run: MountedRun): readonly ViewMount[] {
  const { request, command, view, temporary, home, mounts, pathProblem } = run
  const { cwd } = request
  const knowledge = command.env['SVC_KNOWLEDGE_FILE']
  const given = [
    ...privateFoldersIn([...command.args, ...Object.values(command.env)]),
    ...(knowledge === undefined ? [] : [knowledge]),
  ].filter((path) => existsSync(path))
  const allowed = (paths: readonly string[], writable: boolean): readonly ViewMount[] =>
    paths
      .map(inFull)
      .flatMap((path) =>
        isWithin(path, home) || isWithin(path, cwd) ? [] : [allowedMount(path, writable, pathProblem)],
      )
  return [
    ...allowed([...(mounts?.read ?? []), ...(request.read ?? [])], false),
    ...allowed([...(mounts?.write ?? []), ...(request.write ?? [])], true),
    own(cwd, true),
    ...gitMounts(cwd, view),
    own(temporary, true),
    ...(isWithin(home, temporary) ? [] : [own(home, true)]),
    ...given.map((path) => own(path, false)),
  ]
}

const own = (path: string, writable: boolean): ViewMount => ({ from: path, to: path, writable })

/** What lies at `.git` is a way out, because git of this machine reads it: it is never writable. */
function gitMounts(cwd: string, view: GitView | null): readonly ViewMount[] {
  const dotGit = join(cwd, '.git')
  if (!existsSync(dotGit)) return []
  if (view !== null) return [...view.mounts, own(dotGit, false)]
  if (lstatSync(dotGit).isDirectory()) return [own(dotGit, false)]
  throw new ContainmentUnavailable(
    `The git folder of ${cwd} can’t be shown to a container without letting it write there. Choose another runner.`,
  )
}

function allowedMount(path: string, writable: boolean, pathProblem: Containment['pathProblem']): ViewMount {
  const problem = path === '/' ? 'A container can’t have all of this machine.' : pathProblem(path)
  if (problem !== null) throw new ContainmentUnavailable(problem)
  if (!existsSync(path)) throw new ContainmentUnavailable(`A container should see ${path}, which is not there.`)
  return { from: realpathSync(path), to: path, writable }
}
