import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ContainmentLevel, ContainmentStatus, HeldContainment } from '../../src-shared/contract/containment.ts'
import { ContainmentUnavailable, type BoxRequest, type Containment } from '../ports/containment.ts'
import { createBox, type BoxOptions } from './create-box.ts'
import { keys } from './home.ts'
import { createHostWays } from './host-ways.ts'
import { holdLibrary, releaseLibrary } from './library.ts'
import { proxyProblem, readMachine } from './machine.ts'
import { inFull, isWithin, realPath } from '../platform/path-names.ts'
import { pathProblem } from './path-problem.ts'
import { gitFoldersOf } from './places.ts'

export interface ContainmentOptions extends BoxOptions {
  /** Meaning of `auto`: `auto` contains where the machine can, `none` never does. */
  readonly auto: 'auto' | 'none'
  /** Says what this machine can contain; by default it is looked at once. */
  readonly machine?: () => ContainmentStatus
}

export function createContainment(options: ContainmentOptions): Containment {
  let status: ContainmentStatus | undefined
  let library: Promise<void> | undefined
  const statusOnce = options.machine ?? (() => (status ??= readMachine()))
  const refusal = (level: ContainmentLevel): string | null => {
    if (level === 'none' || level === 'auto' || statusOnce().available) return null
    return `This run can’t be contained. ${statusOnce().reason ?? ''}`.trimEnd()
  }
  const effectiveLevel = (level: ContainmentLevel): HeldContainment => {
    if (level !== 'auto') return level
    return options.auto === 'auto' && statusOnce().available ? 'worktree' : 'none'
  }
  /** Runs may start in parallel, so they share one hold of the library. */
  const hold = async (): Promise<void> =>
    await (library ??= holdLibrary().catch((error: unknown) => {
      library = undefined
      throw error
    }))
  return {
    effectiveLevel,
    status: () => withAuto(statusOnce(), options),
    refusal,
    pathProblem: (path) => pathProblem(path, options),
    keepsRefs: async (cwd) => process.platform === 'linux' && ((await options.views?.isPossible(cwd)) ?? false),
    box: async (request) => {
      if (effectiveLevel(request.level) === 'none') return null
      const why = refusal(request.level) ?? firstProblem(request, options) ?? unseenPlace(request.cwd)
      if (why !== null) throw new ContainmentUnavailable(why)
      await hold()
      return createBox(options, request)
    },
    hostsProblem: proxyProblem,
    hostWays: async (request) => {
      const why = proxyProblem()
      if (why !== null) throw new ContainmentUnavailable(why)
      await hold()
      return createHostWays(request, options.apiUrl)
    },
    close: async () => {
      const isHeld = await library?.then(
        () => true,
        () => false,
      )
      library = undefined
      if (isHeld === true) await releaseLibrary()
    },
  }
}

/** Adds why `auto` contains nothing if the machine is not the reason. */
function withAuto(status: ContainmentStatus, { auto }: ContainmentOptions): ContainmentStatus {
  const isOff = auto === 'none' && status.available
  return isOff ? { ...status, reason: 'SVC_CONTAINMENT is none, so `auto` contains nothing.' } : status
}

/**
 * Returns the first path that no run may have. Checked at each start, because a link may lead elsewhere than when the
 * path was saved.
 */
function firstProblem({ read = [], write = [] }: BoxRequest, options: ContainmentOptions): string | null {
  const problems = [...read, ...write].flatMap((path) => pathProblem(path, options) ?? linkProblem(path) ?? [])
  return problems.at(0) ?? null
}

/** Returns why a link in a path can't be followed: another run may have made it, to have keys shown to this one. */
function linkProblem(path: string): string | null {
  const isKey = (one: string, home: string): boolean => keys.some((key) => isWithin(one, join(home, key)))
  const real = realPath(inFull(path))
  if (isKey(inFull(path), homedir()) || !isKey(real, realPath(homedir()))) return null
  return `${path} is a link to ${real}, which holds keys. Allow that path itself.`
}

/** System folders that are new in each box on Linux, so that a run's writes there are lost. */
const remade = process.platform === 'linux' ? ['/dev', '/proc', '/sys'] : []

/** Returns why a run can't work in this worktree, because its writes or git's would be lost; null if it can. */
function unseenPlace(cwd: string): string | null {
  const places = [cwd, ...gitFoldersOf(cwd).write].map(realPath)
  const unseen = places.find((place) => remade.some((folder) => isWithin(place, folder)))
  if (unseen === undefined) return null
  return `A contained run can’t see ${unseen}. Move the repository, or the folder of the worktrees (SVC_WORKSPACE_ROOT), to a disk, or run without containment.`
}
