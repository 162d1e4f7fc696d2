import { createGit, type Git, type GitOptions } from '../../src-main/git/create-git.ts'
import type { BaseConflictReader } from '../../src-main/ports/base-conflict-reader.ts'
import type { OverlapReader } from '../../src-main/ports/overlap-reader.ts'
import type { Place } from '../../src-main/ports/place.ts'
import type { RepositoryReader } from '../../src-main/ports/repository-reader.ts'
import type { RescueStore } from '../../src-main/ports/rescue-store.ts'
import type { TargetMover } from '../../src-main/ports/target-mover.ts'

type Ports = Git['place'][keyof Git['place']]
type All<T> = (T extends unknown ? (each: T) => void : never) extends (each: infer I) => void ? I : never

/** All ports of git as one object, for tests that use several. */
export type WholeGit = All<Ports> & RepositoryReader & TargetMover & RescueStore & OverlapReader & BaseConflictReader

export function createWorkspaces(options: GitOptions = {}): WholeGit {
  const { place, repositories, target, rescues, overlaps, baseConflicts } = createGit(options)
  return Object.assign({}, ...Object.values(place), repositories, target, rescues, overlaps, baseConflicts) as WholeGit
}

/** A place whose ports are all this one object. */
export function placeOf(git: WholeGit, others: Omit<Place, keyof Git['place']>): Place {
  const ports: Git['place'] = {
    worktrees: git,
    locks: git,
    work: git,
    diffs: git,
    lines: git,
    branches: git,
    elsewhere: git,
    scratch: git,
    orphans: git,
    ports: git,
  }
  return { ...ports, ...others }
}
