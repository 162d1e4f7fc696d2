import type { RepositoryReader } from '../ports/repository-reader.ts'
import { findRepositories } from './find-repositories.ts'
import { inspectRepository, listRemoteUrls } from './inspect-repository.ts'
import { createTrackedPaths } from './list-tracked.ts'
import { readPrograms, readRuns } from './repository-state.ts'
import { asWorkspaceError } from './workspace-errors.ts'

/** Implements what is asked of repositories. */
export function createRepositoryReader(): RepositoryReader {
  const trackedPaths = createTrackedPaths()
  return {
    nearby: findRepositories,
    trackedPaths: (repo, branch, { signal }) => asWorkspaceError(trackedPaths(repo, branch, { signal })),
    remoteUrls: (repo, { signal }) => asWorkspaceError(listRemoteUrls(repo, { signal })),
    inspect: (path, { signal }) => asWorkspaceError(inspectRepository(path, { signal })),
    programs: (repo, { signal }) => asWorkspaceError(readPrograms(repo, { signal })),
    runs: (repo, { signal }) => asWorkspaceError(readRuns(repo, { signal })),
  }
}
