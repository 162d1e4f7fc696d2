import type { ContainmentLevel, ContainmentStatus, HeldContainment } from '../../src-shared/contract/containment.ts'
import { ContainmentUnavailable, type BoxRequest, type Containment } from '../ports/containment.ts'
import { createBox, type BoxOptions } from './create-box.ts'
import { holdLibrary, releaseLibrary } from './library.ts'
import { readMachine } from './machine.ts'
import { isWithin, pathProblem, realPath } from './path-problem.ts'
import { gitFoldersOf } from './places.ts'

export interface ContainmentOptions extends BoxOptions {
  /** What `auto` means: `auto`, contained where the machine can; `none`, not. */
  readonly auto: 'auto' | 'none'
}

export function createContainment(options: ContainmentOptions): Containment {
  let status: ContainmentStatus | undefined
  let library: Promise<void> | undefined
  const statusOnce = () => (status ??= readMachine())
  const refusal = (level: ContainmentLevel): string | null => {
    if (level === 'none' || level === 'auto' || statusOnce().available) return null
    return `This run can’t be contained. ${statusOnce().reason ?? ''}`.trimEnd()
  }
  const held = (level: ContainmentLevel): HeldContainment => {
    if (level !== 'auto') return level
    return options.auto === 'auto' && statusOnce().available ? 'worktree' : 'none'
  }
  return {
    held,
    status: () => withAuto(statusOnce(), options),
    refusal,
    pathProblem: (path) => pathProblem(path, options),
    box: async (request) => {
      if (held(request.level) === 'none') return null
      const why = refusal(request.level) ?? firstProblem(request, options) ?? unseenPlace(request.cwd)
      if (why !== null) throw new ContainmentUnavailable(why)
      // Runs may start side by side: the library is held once for all of them.
      library ??= holdLibrary().catch((error: unknown) => {
        library = undefined
        throw error
      })
      await library
      return createBox(options, request)
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

/** Says where `auto` contains nothing for another reason than the machine. */
function withAuto(status: ContainmentStatus, { auto }: ContainmentOptions): ContainmentStatus {
  const isOff = auto === 'none' && status.available
  return isOff ? { ...status, reason: 'SVC_CONTAINMENT is none, so `auto` contains nothing.' } : status
}

/** A link may lead elsewhere by now than when the path was taken. */
function firstProblem({ read = [], write = [] }: BoxRequest, options: ContainmentOptions): string | null {
  return [...read, ...write].reduce<string | null>((found, path) => found ?? pathProblem(path, options), null)
}

/** The system's own folders are new in a box on Linux: what a run wrote there would be gone with it. */
const remade = process.platform === 'linux' ? ['/dev', '/proc', '/sys'] : []

/** Returns why a run can't work in this worktree: its writes, or git's for it, would go where nobody finds them. */
function unseenPlace(cwd: string): string | null {
  const places = [cwd, ...gitFoldersOf(cwd).write].map(realPath)
  const unseen = places.find((place) => remade.some((folder) => isWithin(place, folder)))
  if (unseen === undefined) return null
  return `A contained run can’t see ${unseen}. Move the repository, or the folder of the worktrees (SVC_WORKSPACE_ROOT), to a disk, or run without containment.`
}
