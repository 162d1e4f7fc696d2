import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cancellable } from '../../ports/cancellable.ts'
import { branchRef, resolveCommit } from '../commands/branch.ts'
import { listInner } from '../commands/nested.ts'
import { readGit, runGit } from '../commands/run-git.ts'
import { pathBytes, pathText } from '../commands/tree-paths.ts'
import { commonDir } from '../commands/worktree.ts'
import { readStash } from '../elsewhere/stash-list.ts'
import { orNull } from '../files/file-errors.ts'
import { objectsEnv } from './make-snapshot.ts'

export interface WorkToPush {
  readonly worktree: string
  /** The task's branch, as a short name. */
  readonly branch: string
  /** The last snapshot, and the folder with its objects; null: none is pushed. */
  readonly snapshot: { readonly commit: string; readonly objects: string } | null
  /** At the end of a job: also stash, other branches and nested repositories. */
  readonly everything: boolean
  /** Where all refs are pushed instead of to their own places: `refs/svc/late/`, for work that is no longer asked for. */
  readonly under?: string
}

export interface PushTarget {
  readonly url: string
  readonly token: string
}

/** Objects by the refs that they are pushed to. */
type WorkRefs = ReadonlyMap<string, string>

export interface PushedRef {
  readonly ref: string
  readonly commit: string
  /** null: it arrived, or was there; else what the service said. */
  readonly refusal: string | null
}

const livePrefix = 'refs/svc/live/'

/** Lists what a push of this work brings. */
async function listWork(work: WorkToPush, { signal }: Cancellable): Promise<WorkRefs> {
  const refs = await listAtHome(work, { signal })
  const { under } = work
  if (under === undefined) return refs
  return new Map(
    [...refs].map(([ref, commit]) => [`${under}${ref.replace(livePrefix, '').replace('refs/', '')}`, commit]),
  )
}

async function listAtHome(work: WorkToPush, { signal }: Cancellable): Promise<WorkRefs> {
  const { worktree, branch, snapshot, everything } = work
  const refs = new Map<string, string>()
  const tip = await resolveCommit(worktree, branchRef(branch), { signal })
  if (tip !== null) refs.set(branchRef(branch), tip)
  if (snapshot !== null) refs.set(`${livePrefix}snapshot`, snapshot.commit)
  if (!everything) return refs
  for (const [name, commit] of await otherBranches(worktree, branch, { signal }))
    refs.set(`${livePrefix}heads/${name}`, commit)
  for (const { id } of await readStash(worktree, await commonDir(worktree, { signal }), { signal }))
    refs.set(`${livePrefix}stash/${id}`, id)
  for (const { path, head } of await nestedHeads(worktree, { signal }))
    refs.set(`${livePrefix}nested/${asRefName(path)}`, head)
  return refs
}

/**
 * Pushes work to the service by one push; each ref is answered. Git works in a folder of its own, because the run could
 * have written the worktree's configuration and hooks; the token is in no argument and no file. Throws `GitError` if
 * the service could not be reached, or did not answer to the end.
 */
export async function pushWork(
  work: WorkToPush,
  target: PushTarget,
  { signal }: Cancellable,
): Promise<readonly PushedRef[]> {
  const refs = await listWork(work, { signal })
  if (refs.size === 0) return []
  const common = await commonDir(work.worktree, { signal })
  const folder = await mkdtemp(join(tmpdir(), 'copse-push-'))
  try {
    await makeGitFolder(folder, common, { signal })
    const nested = work.everything ? await nestedHeads(work.worktree, { signal }) : []
    const borrowed = [common, ...nested.map(({ git_dir }) => git_dir)].map((path) => join(path, 'objects'))
    const objects = work.snapshot?.objects ?? join(folder, 'objects')
    const specs = [...refs].map(([ref, commit]) => `+${commit}:${ref}`)
    const args = ['push', '--porcelain', '--no-signed', '--no-recurse-submodules', '--', target.url, ...specs]
    const { stdout, stderr } = await runGit(folder, ['--git-dir', folder, ...args], {
      signal,
      access: 'write',
      accept: [0, 1],
      env: { ...objectsEnv(objects, borrowed), GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
      settings: [
        [`http.${target.url}.extraHeader`, `Authorization: Bearer ${target.token}`],
        ['http.followRedirects', 'false'],
        ['credential.helper', ''],
        ['gc.auto', '0'],
      ],
    })
    return readAnswers(refs, stdout.toString('utf8'), stderr)
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

function readAnswers(refs: WorkRefs, stdout: string, stderr: string): readonly PushedRef[] {
  const said = new Map<string, string | null>()
  for (const line of stdout.split('\n')) {
    const [flag = '', names = '', summary = ''] = line.split('\t')
    const ref = names.slice(names.indexOf(':') + 1)
    if (names !== '') said.set(ref, flag === '!' ? reasonIn(summary) : null)
  }
  const unsaid = stderr.trim() || 'Git did not say what came of it.'
  return [...refs].map(([ref, commit]) => ({ ref, commit, refusal: said.has(ref) ? (said.get(ref) ?? null) : unsaid }))
}

/** Returns what stands in brackets at the end, as in `[remote rejected] (reason)`. */
const reasonIn = (summary: string): string => /\((.+)\)$/s.exec(summary)?.[1] ?? summary

async function makeGitFolder(folder: string, common: string, { signal }: Cancellable): Promise<void> {
  const format = await readGit(common, ['--git-dir', common, 'rev-parse', '--show-object-format'], { signal })
  for (const part of ['refs', 'objects']) await mkdir(join(folder, part))
  await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/copse-none\n')
  const extension = format === 'sha1' ? '' : `[extensions]\n\tobjectFormat = ${format}\n`
  const version = format === 'sha1' ? 0 : 1
  await writeFile(join(folder, 'config'), `[core]\n\trepositoryformatversion = ${version}\n\tbare = true\n${extension}`)
  await orNull(cp(join(common, 'shallow'), join(folder, 'shallow')))
}

/** Returns the local branches besides the task's, with their commits. */
async function otherBranches(
  worktree: string,
  branch: string,
  { signal }: Cancellable,
): Promise<readonly (readonly [name: string, commit: string])[]> {
  const out = await readGit(worktree, ['for-each-ref', '--format=%(objectname) %(refname:lstrip=2)', 'refs/heads/'], {
    signal,
  })
  return out
    .split('\n')
    .filter(Boolean)
    .map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))] as const)
    .filter(([name]) => name !== branch)
}

interface NestedHead {
  readonly path: string
  readonly git_dir: string
  readonly head: string
}

/** Returns repositories inside the worktree that have a commit. */
async function nestedHeads(worktree: string, { signal }: Cancellable): Promise<readonly NestedHead[]> {
  const heads: NestedHead[] = []
  for (const key of (await listInner(worktree, { signal })).nested) {
    const folder = pathText(pathBytes(worktree, key).toString('latin1'))
    const head = await resolveCommit(folder, 'HEAD', { signal })
    if (head !== null) heads.push({ path: pathText(key), git_dir: await commonDir(folder, { signal }), head })
  }
  return heads
}

/** Writes a path as part of a ref's name, where many characters may not stand. */
const asRefName = (path: string): string =>
  path.replaceAll(/[^\w/-]/g, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  )
