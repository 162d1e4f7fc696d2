import type { z } from 'zod'
import type { RepoFields } from '../../src-shared/contract/projects.ts'
import { givenFields } from '../../src-shared/lang/given-fields.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ProjectId, RepoId } from '../../src-shared/contract/ids.ts'
import type { RepoState } from '../../src-shared/contract/projects.ts'
import { buildHosts } from './rules/build-hosts.ts'
import { invalidInput } from '../domain/refusal.ts'
import type { ProjectGround } from './project-ground.ts'
import type { Tx } from '../core/event-feed.ts'
import { followRepository, refuseMove } from './moved-repository.ts'
import type { ProjectRecord, RepoRecord } from '../ports/project-queries.ts'
import { leaveRepository } from './task-repository.ts'
import { trustRepository } from './trust-repository.ts'
import { toProject } from '../core/views.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { RepositoryInfo } from '../ports/repository-reader.ts'
import type { Worktrees } from '../workspaces/worktrees.ts'

/** Fields of a repository that clients set. */
type Fields = z.infer<typeof RepoFields>
type RepositoryPatch = { readonly [K in keyof Fields]?: Fields[K] | undefined }

const given = givenFields<RepoRecord>()

/** The repositories of a project; one of them is the primary one. */
export interface Repositories {
  /** Returns the repositories as they are on disk now, the primary one first. */
  list(project_id: ProjectId, signal: AbortSignal): Promise<readonly RepoState[]>
  /** Returns the hosts that builds of the project usually need. */
  buildHosts(project_id: ProjectId, signal: AbortSignal): Promise<readonly string[]>
  add(
    project: ProjectRecord,
    wanted: RepositoryPatch & { readonly path: string },
    signal: AbortSignal,
  ): Promise<RepoRecord | Refusal>
  /** Changes a repository. A new path also moves the worktrees of its tasks there. */
  update(repo: RepoRecord, patch: RepositoryPatch, signal: AbortSignal): Promise<RepoRecord | Refusal>
  /** Removes the repository from the project and keeps its files. Returns null on success. */
  remove(repo: RepoRecord): Refusal | null
  readonly leave: typeof leaveRepository
  /** Lets git run the programs that a repository configures now. */
  trust(path: string, signal: AbortSignal): Promise<void>
}

export function createRepositories(context: ProjectGround, worktrees: Pick<Worktrees, 'exclusively'>): Repositories {
  const { feed, repositories } = context
  const { read } = context.store
  return {
    list: (project_id, signal) =>
      Promise.all(
        read.repos.byProject(project_id).map(async ({ project_id: _inside, ...repo }) => ({
          ...repo,
          problem: await problemOf(context, repo, signal),
        })),
      ),
    buildHosts: async (project_id, signal) => {
      const asked = read.repos
        .byProject(project_id)
        // A repository that is gone has none; the others still count.
        .map(({ path }) => repositories.remoteUrls(path, { signal }).catch(() => []))
      return buildHosts((await Promise.all(asked)).flat())
    },
    add: async (project, wanted, signal) => {
      const info = await repositories.inspect(wanted.path, { signal })
      const default_branch = wanted.default_branch ?? info.default_branch
      if (!info.branches.includes(default_branch)) return noSuchBranch(default_branch, info)
      await trustRepository(context, info.root, signal)
      return feed.commit((tx) => {
        const others = tx.repos.byProject(project.id)
        const name = wanted.name ?? freeName(info.name, others)
        const clash = refuseClash(others, { path: info.root, name })
        if (clash) return clash
        const repo: RepoRecord = {
          is_primary: others.length === 0,
          ...given(wanted),
          id: context.newId() as RepoId,
          project_id: project.id,
          name,
          path: info.root,
          default_branch,
        }
        save(tx, repo)
        return repo
      })
    },
    update: async (repo, patch, signal) => {
      const isChecked = patch.path !== undefined || patch.default_branch !== undefined
      const info = isChecked ? await repositories.inspect(patch.path ?? repo.path, { signal }) : null
      const default_branch = patch.default_branch ?? repo.default_branch
      if (info && !info.branches.includes(default_branch)) return noSuchBranch(default_branch, info)
      const path = patch.path === undefined || !info ? repo.path : info.root
      if (path !== repo.path && info) {
        const refusal = await refuseMove(context, repo, info, signal)
        if (refusal) return refusal
      }
      // A caller that states the path, even the same one, trusts the repository as it is.
      if (patch.path !== undefined) await trustRepository(context, path, signal)
      const updated = feed.commit((tx) => change(tx, repo, { ...patch, path, default_branch }))
      if (!('code' in updated) && path !== repo.path) await followRepository(context, worktrees, updated, signal)
      return updated
    },
    remove: (repo) =>
      feed.commit((tx) => {
        const tasks = tx.tasks.idsInRepo(repo.project_id, repo.id)
        if (tasks.length > 0) return inUse(inUseMessage(repo, tasks.length), tasks)
        if (repo.is_primary) return inUse(`${repo.name} is the primary one. Make another repository the primary first.`)
        tx.repos.delete(repo.id)
        emitRepos(tx, repo.project_id)
        return null
      }),
    leave: leaveRepository,
    trust: (path, signal) => trustRepository(context, path, signal),
  }
}

function change(
  tx: Tx,
  before: RepoRecord,
  patch: RepositoryPatch & Pick<RepoRecord, 'path' | 'default_branch'>,
): RepoRecord | Refusal {
  const repo = tx.repos.get(before.id)
  if (!repo) return { code: 'not_found', message: "This repository doesn't exist.", details: { resource: 'repo' } }
  const { path } = patch
  const name = patch.name ?? repo.name
  const others = tx.repos.byProject(repo.project_id).filter((one) => one.id !== repo.id)
  const clash = refuseClash(others, { path, name })
  if (clash) return clash
  if (patch.is_primary === false && repo.is_primary) {
    return inUse('A project has one primary repository. Make another one the primary instead.')
  }
  const changed: RepoRecord = { ...repo, ...given(patch) }
  save(tx, changed)
  return changed
}

/** Saves a repository; a new primary one replaces the old one. */
function save(tx: Tx, repo: RepoRecord): void {
  if (repo.is_primary) {
    for (const other of tx.repos.byProject(repo.project_id)) {
      if (other.is_primary && other.id !== repo.id) tx.repos.put({ ...other, is_primary: false })
    }
  }
  tx.repos.put(repo)
  emitRepos(tx, repo.project_id)
}

function emitRepos(tx: Tx, project_id: ProjectId): void {
  const project = tx.projects.get(project_id)
  if (!project) return
  const updated = { ...project, updated_at: tx.now() }
  tx.projects.put(updated)
  tx.emit('project.updated', { project_id, project: toProject(tx, updated) })
}

async function problemOf(
  { repositories }: ProjectGround,
  repo: Pick<RepoRecord, 'path' | 'default_branch'>,
  signal: AbortSignal,
): Promise<RepoState['problem']> {
  const missing = {
    code: 'repository_missing',
    message: `No git repository at ${repo.path}. If you moved it, update its path.`,
  } as const
  try {
    const info = await repositories.inspect(repo.path, { signal })
    // The path may now lie inside another repository.
    if (info.root !== repo.path) return missing
    if (info.branches.includes(repo.default_branch)) return null
    return {
      code: 'branch_missing',
      message: `The base branch ${repo.default_branch} is gone. Choose another.`,
    }
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error
    if (error.code === 'repository_has_no_commits') return { code: error.code, message: error.message }
    return missing
  }
}

/** Returns a name that is not taken, with a number appended where needed. */
function freeName(name: string, others: readonly RepoRecord[]): string {
  const taken = new Set(others.map((one) => one.name))
  let free = name
  for (let index = 2; taken.has(free); index += 1) free = `${name}-${index}`
  return free
}

function refuseClash(others: readonly RepoRecord[], wanted: Pick<RepoRecord, 'path' | 'name'>): Refusal | null {
  const same = others.find((one) => one.path === wanted.path)
  if (same) return invalidInput('path', `The project has this repository already, as ${same.name}.`)
  if (!others.some((one) => one.name === wanted.name)) return null
  return invalidInput('name', `The project has another repository called ${wanted.name}. Choose another name.`)
}

function noSuchBranch(branch: string, info: RepositoryInfo): Refusal {
  const some = info.branches.slice(0, 20).join(', ')
  return invalidInput('default_branch', `The repository has no branch ${branch}. It has: ${some}.`)
}

/** Returns the refusal's text. Finished tasks count too, because their history names the repository. */
function inUseMessage({ name }: RepoRecord, tasks: number): string {
  return tasks === 1
    ? `1 task uses ${name}. Move it to another repository, or delete it.`
    : `${tasks} tasks use ${name}. Move them to another repository, or delete them.`
}

function inUse(message: string, tasks: readonly string[] = []): Refusal {
  return { code: 'repo_in_use', message, details: { tasks: [...tasks] } }
}
