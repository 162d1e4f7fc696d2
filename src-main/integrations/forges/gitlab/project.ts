import { ForgeError, type ForgeRepository, type MergeMethod } from '../../../ports/forges.ts'
import { parseAnswer } from '../parse-answer.ts'
import { unlessRefused } from '../unless-refused.ts'
import { label, type GitlabProject } from './gitlab-api.ts'
import { GitlabProjectRecord } from './shapes.ts'

const keptMs = 300_000

/** The role from which an account may push: Developer. */
export const developer = 30

/** Returns the project's settings, which seldom change. */
export async function readSettings(project: GitlabProject): Promise<GitlabProjectRecord> {
  return project.recall(
    `${project.key} settings`,
    () => keptMs,
    () => fetchProject(project),
  )
}

async function fetchProject({ api, url }: GitlabProject): Promise<GitlabProjectRecord> {
  return parseAnswer(GitlabProjectRecord, (await api.send({ url })).json, label)
}

/** Returns the address to write to, by the project's ID: a renamed project refuses writes to its former path. */
export async function writeUrl(project: GitlabProject): Promise<string> {
  const { id } = await readSettings(project)
  return `${project.root}/projects/${id}`
}

export async function readRepository(project: GitlabProject): Promise<ForgeRepository> {
  const record = await fetchProject(project)
  const access = accessOf(record)
  return {
    full_name: record.path_with_namespace,
    clone_url: record.http_url_to_repo,
    ssh_url: record.ssh_url_to_repo ?? null,
    default_branch: record.default_branch ?? 'main',
    archived: record.archived,
    may_push: access === null ? null : access >= developer,
    methods: methodsOf(record),
  }
}

/** Returns the role of the token's account; null: not told, as for a group that was invited. */
export function accessOf({ permissions }: GitlabProjectRecord): number | null {
  const levels = [permissions?.project_access?.access_level, permissions?.group_access?.access_level]
  const known = levels.filter((level) => level !== undefined)
  return known.length === 0 ? null : Math.max(...known)
}

/** A project has one way to merge, besides squashing. */
function methodsOf({ merge_method, squash_option }: GitlabProjectRecord): readonly MergeMethod[] {
  const base = merge_method === 'ff' ? 'rebase' : 'merge'
  if (squash_option === 'never') return [base]
  if (squash_option === 'always') return ['squash']
  return squash_option === 'default_on' ? ['squash', base] : [base, 'squash']
}

/** Returns the path of a project by its ID; null: it is gone, or the token can't see it. */
export async function pathOf(project: GitlabProject, id: number): Promise<string | null> {
  const { root, api, recall, key } = project
  const own = await readSettings(project)
  if (own.id === id) return own.path_with_namespace
  return recall(
    `${key} path of ${id}`,
    () => keptMs,
    async () => {
      const answer = await unlessRefused(['not_found', 'forbidden'], () => api.send({ url: `${root}/projects/${id}` }))
      return answer === null ? null : parseAnswer(GitlabProjectRecord, answer.json, label).path_with_namespace
    },
  )
}

/** Returns the ID of a project by its path; null: there is none that the token can see. */
export async function idOf(project: GitlabProject, path: string): Promise<number | null> {
  const { root, api, source } = project
  const own = await readSettings(project)
  const isOwn = [own.path_with_namespace, `${source.owner}/${source.repo}`].some(
    (each) => each.toLowerCase() === path.toLowerCase(),
  )
  if (isOwn) return own.id
  const url = `${root}/projects/${encodeURIComponent(path)}`
  const answer = await unlessRefused(['not_found', 'forbidden'], () => api.send({ url }))
  return answer === null ? null : parseAnswer(GitlabProjectRecord, answer.json, label).id
}

/** Runs a write, and says so where it is refused because the project is archived: GitLab says 403 only. */
export async function whileNotArchived<T>(project: GitlabProject, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!(error instanceof ForgeError) || error.code !== 'forbidden' || error.right !== null) throw error
    const { archived } = await fetchProject(project)
    if (archived) throw new ForgeError('archived', 'The project is archived. Unarchive it first.')
    throw error
  }
}
