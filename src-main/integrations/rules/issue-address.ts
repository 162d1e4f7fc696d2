import { platforms, type Platform } from '../../../src-shared/contract/trackers.ts'
import { trackerInfos } from '../../../src-shared/contract/trackers.ts'

/** A tracker's address, parsed. */
export interface Base {
  /** The kind whose public tracker it is, whose IDs contain no host; null for a host of its own. */
  readonly publicPlatform: Platform | null
  /** With the port, unless it is the scheme's default. */
  readonly host: string
  /** The base URL of its pages, without a slash at the end. */
  readonly web: string
  /** The API URL as configured, without a slash at the end. */
  readonly api: string
}

/** A repository of a tracker. */
export interface Repository {
  readonly owner: string
  readonly repo: string
}

export interface IssueAddress {
  /** Its ID in the whole installation; compared case-insensitively, as trackers do. */
  readonly global_id: string
  readonly number: number
  /** The URL of its page. */
  readonly url: string
}

/** Returns the canonical ID and page URL of an issue. */
export function issueAddress(
  platform: Platform,
  base: Base,
  { owner, repo }: Repository,
  number: number,
): IssueAddress {
  const path = `${owner}/${repo}`
  const place = base.publicPlatform !== null ? path : `${base.host}:${path}`
  return {
    global_id: `${platform}:${place}#${number}`,
    number,
    url: `${base.web}/${path}${trackerInfos[platform].issuePaths[0]}${number}`,
  }
}

/** Where the files in the text of a repository's issues are, if their address begins with `path`. */
export interface FilesPlace {
  readonly path: string
  /** The base URL before that path. */
  readonly web: string
}

/** Returns where a repository's issues have their files. */
export function filesOf(platform: Platform, { web }: Base, { owner, repo }: Repository): FilesPlace {
  const { path, below } = trackerInfos[platform].files
  return { path, web: below === 'root' ? web : `${web}/${owner}/${repo}` }
}

/**
 * Returns every ID under which an issue may already be linked: a link may have been made by hand before its host's
 * platform was known, and a repository may have been renamed.
 */
export function knownIds(base: Base, repositories: readonly Repository[], number: number): readonly string[] {
  const possible = base.publicPlatform === null ? platforms : [base.publicPlatform]
  return repositories.flatMap((repository) =>
    possible.map((platform) => issueAddress(platform, base, repository, number).global_id),
  )
}

/** Trackers ignore the case of names. */
export function isSameRepository(one: Repository, other: Repository): boolean {
  const key = ({ owner, repo }: Repository) => `${owner}/${repo}`.toLowerCase()
  return key(one) === key(other)
}
