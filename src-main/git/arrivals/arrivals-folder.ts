import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import type { ArrivalsStart } from '../../ports/arrivals.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import { branchRef, resolveCommit } from '../commands/branch.ts'
import type { Setting } from '../commands/git-environment.ts'
import { readGit, runGit, type Git, type GitOptions } from '../commands/run-git.ts'
import { orNull } from '../files/file-errors.ts'
import { requireRepository } from '../worktree/moved-repository.ts'

export const baseRef = 'refs/svc/base'
export const livePrefix = 'refs/svc/live/'
export const latePrefix = 'refs/svc/late/'
/** Heads of the branch that were replaced, by their commits. */
export const replacedPrefix = 'refs/svc/was/'
/** What was judged, by its commits. */
export const keptPrefix = 'refs/svc/kept/'
export const snapshotRef = `${livePrefix}snapshot`

/** The repository in which a task's work arrives. */
export interface ArrivalsFolder {
  readonly folder: string
  readonly repo_path: string
  readonly branch: string
}

const Note = z.object({ repo_path: z.string(), branch: z.string() })
const noteFile = 'copse.json'
const arrivedFile = 'copse-arrived'
const Left = z.array(z.string())
const leftFile = 'copse-left.json'

/** Where pushes wait until they are checked. */
export const quarantineOf = (folder: string): string => join(folder, 'quarantine')

/** Reads what an earlier `makeFolder` has made; null if there is nothing. */
export async function findFolder(folder: string): Promise<ArrivalsFolder | null> {
  const text = await orNull(readFile(join(folder, noteFile), 'utf8'))
  const note = text === null ? null : Note.safeParse(parseJson(text))
  return note?.success === true ? { folder, ...note.data } : null
}

/** Makes the repository, or makes an old one whole again. Writes its note last: without one it is made again. */
export async function makeFolder(
  folder: string,
  start: ArrivalsStart,
  { signal }: Cancellable,
): Promise<ArrivalsFolder> {
  const common = await requireRepository(start.repo_path, { signal })
  const format = await readGit(common, ['--git-dir', common, 'rev-parse', '--show-object-format'], { signal })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const part of ['objects/info', 'objects/pack', 'refs/heads', 'info'])
    await mkdir(join(folder, part), { recursive: true })
  await replaceFile(join(folder, 'objects', 'info', 'alternates'), `${alternateLine(join(common, 'objects'))}\n`)
  await replaceFile(join(folder, 'config'), configOf(format))
  await replaceFile(join(folder, 'HEAD'), `ref: ${branchRef(start.branch)}\n`)
  // Git must know where the history of a shallow repository ends.
  const shallow = await orNull(readFile(join(common, 'shallow'), 'utf8'))
  if (shallow === null) await rm(join(folder, 'shallow'), { force: true })
  else await replaceFile(join(folder, 'shallow'), shallow)
  const { repo_path, branch } = start
  await replaceFile(join(folder, noteFile), JSON.stringify({ repo_path, branch } satisfies z.infer<typeof Note>))
  return { folder, repo_path, branch }
}

/** Git reads a line of the file that begins with a quote as a quoted name. */
const alternateLine = (path: string): string =>
  /^["#]|[\n\\]/.test(path) ? `"${path.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"` : path

const configOf = (format: string): string =>
  format === 'sha1'
    ? '[core]\n\trepositoryformatversion = 0\n\tbare = true\n'
    : `[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = ${format}\n`

async function replaceFile(path: string, text: string): Promise<void> {
  if ((await orNull(readFile(path, 'utf8'))) === text) return
  await writeFile(`${path}.new`, text, { mode: 0o600 })
  await rename(`${path}.new`, path)
}

/** One allocation of git may be this large, so that a small pack that unpacks to a huge object ends git alone. */
const allocationLimit = '1g'

/** No one's configuration is read: a setting of the user could open what must stay closed. */
const isolated: Readonly<Record<string, string>> = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_ALLOC_LIMIT: allocationLimit,
}

const always: readonly Setting[] = [
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['core.fsync', 'committed'],
  // Each thread of git takes memory of its own.
  ['pack.threads', '1'],
  ['uploadpack.allowTipSHA1InWant', 'false'],
  ['uploadpack.allowReachableSHA1InWant', 'false'],
  ['uploadpack.allowAnySHA1InWant', 'false'],
  ['uploadpack.allowFilter', 'false'],
  ['uploadpack.allowRefInWant', 'false'],
]

/** Returns git for the repository of a task. */
export function gitOf({ folder, branch }: Omit<ArrivalsFolder, 'repo_path'>, { signal }: Cancellable): Git {
  const settings: readonly Setting[] = [
    ...always,
    ['safe.directory', folder],
    // The last one that matches counts.
    ['transfer.hideRefs', 'refs'],
    ...visibleRefs(branch).map((name) => ['transfer.hideRefs', `!${name.replace(/\/$/, '')}`] as const),
  ]
  return (args, more: Partial<GitOptions> = {}) =>
    runGit(folder, ['--git-dir', folder, ...args], {
      signal,
      settings,
      ...more,
      env: { ...isolated, ...more.env },
    })
}

/** The refs that a job may fetch, and whose objects its pushes may lean on. */
const visibleRefs = (branch: string): readonly string[] => [baseRef, branchRef(branch), livePrefix]

export const isVisible = (branch: string, ref: string): boolean =>
  ref === baseRef || ref === branchRef(branch) || ref.startsWith(livePrefix)

/** Reads all refs with the objects that they name. */
export async function readRefs(git: Git): Promise<ReadonlyMap<string, string>> {
  const { stdout } = await git(['for-each-ref', '--format=%(objectname) %(refname)'])
  const lines = stdout.toString('utf8').split('\n').filter(Boolean)
  return new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]))
}

/** A change of a ref; null: it does not exist before, or after. */
export interface RefMove {
  readonly ref: string
  readonly from: string | null
  readonly to: string | null
}

/** Moves all of these refs, or none; returns whether it did. */
export async function moveRefs(git: Git, moves: readonly RefMove[]): Promise<boolean> {
  if (moves.length === 0) return true
  const width = (moves[0]?.to ?? moves[0]?.from ?? '').length
  const none = '0'.repeat(width)
  const input = moves.map(({ ref, from, to }) => `update ${ref}\0${to ?? none}\0${from ?? none}\0`).join('')
  const args = ['update-ref', '--no-deref', '--stdin', '-z']
  return (await git(args, { access: 'write', input, accept: [0, 1, 128] })).exit_code === 0
}

/** Brings base and branch to where the service has them; a head of the branch that it leaves is kept. */
export async function bringTo(at: ArrivalsFolder, start: ArrivalsStart, { signal }: Cancellable): Promise<void> {
  const git = gitOf(at, { signal })
  const refs = await readRefs(git)
  const head = refs.get(branchRef(at.branch)) ?? null
  const moves: RefMove[] = []
  const found = new Set<string>()
  for (const [ref, to] of [
    [baseRef, start.base_commit],
    [branchRef(at.branch), start.branch_head ?? head],
  ] as const) {
    const from = refs.get(ref) ?? null
    if (to === null || to === from) continue
    // A new branch is where its base is.
    if (!found.has(to) && (await resolveCommit(start.repo_path, to, { signal })) === null) await requireArrived(git, to)
    found.add(to)
    moves.push({ ref, from, to })
    if (ref !== baseRef && from !== null) moves.push(...keepReplaced(refs, from))
  }
  if (!(await moveRefs(git, moves)))
    throw new WorkspaceError(
      'git_failed',
      `The work of ${at.branch} that arrived could not be brought up to date. Try again.`,
    )
}

/** Returns what keeps a commit that the branch leaves. */
export const keepReplaced = (refs: ReadonlyMap<string, string>, commit: string): readonly RefMove[] =>
  refs.has(`${replacedPrefix}${commit}`) ? [] : [{ ref: `${replacedPrefix}${commit}`, from: null, to: commit }]

/** Throws unless the commit is in the repository of the task. */
export async function requireArrived(git: Git, commit: string): Promise<void> {
  const { stdout } = await git(['cat-file', '--batch-check=%(objecttype)'], { input: `${commit}\n` })
  if (stdout.toString('utf8').trim() === 'commit') return
  throw new WorkspaceError('git_failed', `The commit ${commit} has not arrived.`)
}

/** Notes when a push was accepted. */
export const noteArrival = (folder: string, at: string): Promise<void> => replaceFile(join(folder, arrivedFile), at)

export async function readArrival(folder: string): Promise<string | null> {
  return await orNull(readFile(join(folder, arrivedFile), 'utf8'))
}

export const noteLeft = (folder: string, paths: readonly string[]): Promise<void> =>
  replaceFile(join(folder, leftFile), JSON.stringify(paths))

export async function readLeft(folder: string): Promise<readonly string[]> {
  const text = await orNull(readFile(join(folder, leftFile), 'utf8'))
  return text === null ? [] : (Left.safeParse(parseJson(text)).data ?? [])
}

export async function hasFolder(folder: string): Promise<boolean> {
  return (await orNull(stat(folder))) !== null
}
