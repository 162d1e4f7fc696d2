import type { PullRequestThread } from '../../src-shared/contract/pull-requests.ts'

/** Returns where a thread of the forge is in its file: `Line 8, outdated`. */
export function threadPlace({ line, side, outdated, path }: PullRequestThread): string {
  if (path === null) return outdated ? 'Outdated' : ''
  if (line === null) return 'Its line is gone'
  const where = side === 'old' ? `Line ${line} before the change` : `Line ${line}`
  return outdated ? `${where}, outdated` : where
}
