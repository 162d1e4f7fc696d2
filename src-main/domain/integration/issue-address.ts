import type { Platform } from '../../../src-shared/contract/integrations.ts'

/** A tracker's address, taken apart once. */
export interface Base {
  /** The public tracker, whose ids name no host. */
  readonly isPublic: boolean
  /** With the port, when it is not the scheme's own. */
  readonly host: string
  /** Where pages begin, without a slash at the end. */
  readonly web: string
  /** As it was given, without a slash at the end. */
  readonly api: string
}

/** A repository of a tracker. */
export interface Repository {
  readonly owner: string
  readonly repo: string
}

export interface IssueAddress {
  /** What it is called in the whole installation; compared without regard to case, as trackers do. */
  readonly global_id: string
  readonly number: number
  /** Its page. */
  readonly url: string
}

/** The canonical id and page of an issue of a repository. */
export function issueAddress(
  platform: Platform,
  base: Base,
  { owner, repo }: Repository,
  number: number,
): IssueAddress {
  const path = `${owner}/${repo}`
  const place = base.isPublic ? path : `${base.host}:${path}`
  return {
    global_id: `${platform}:${place}#${number}`,
    number,
    url: `${base.web}/${path}/issues/${number}`,
  }
}

/**
 * Every id under which an issue may be linked already: a link by hand may have been made before anybody
 * knew which platform its host runs, and a repository may have had other names.
 */
export function knownIds(base: Base, repositories: readonly Repository[], number: number): readonly string[] {
  const platforms: readonly Platform[] = base.isPublic ? ['hosted'] : ['hosted', 'selfhosted']
  return repositories.flatMap((repository) =>
    platforms.map((platform) => issueAddress(platform, base, repository, number).global_id),
  )
}

/** Trackers take names in any case for the same. */
export function isSameRepository(one: Repository, other: Repository): boolean {
  const key = ({ owner, repo }: Repository) => `${owner}/${repo}`.toLowerCase()
  return key(one) === key(other)
}
