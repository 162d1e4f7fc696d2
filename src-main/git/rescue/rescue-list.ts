import { rescueTimestamp, type Rescue } from '../../../src-shared/contract/rescues.ts'
import type { RescueName } from '../../ports/rescue-store.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { resolveCommit } from '../commands/branch.ts'
import { countChanged, countLooseFiles } from '../commands/count-files.ts'
import { readGit, runGit } from '../commands/run-git.ts'
import { readNote, type RescueNote } from './rescue-note.ts'
import { uncommittedIn } from './rescue.ts'

const root = 'refs/svc/rescue'

interface Kept {
  readonly ref: string
  readonly task_id: string
  readonly timestamp: string
  readonly commit: string
  readonly parent: string | null
  readonly subject: string
}

/** Lists the rescues of a repository, newest first; with `task`, of that task. Ignores refs of other shapes. */
export async function listRescues(
  repo: string,
  task: string | null,
  { signal }: Cancellable,
): Promise<readonly Rescue[]> {
  const refs = await readRefs(repo, task === null ? `${root}/` : `${root}/${task}/`, { signal })
  if (refs.length === 0) return []
  const notes = await readNotes(repo, task === null ? `${root}/*` : `${root}/${task}/*`, { signal })
  const rescues: Rescue[] = []
  for (const one of refs) {
    const note = notes.get(one.ref) ?? (await describe(repo, one, { signal }))
    const { ref, task_id, timestamp, commit } = one
    rescues.push({ ref, task_id, timestamp, commit, created_at: timeOf(timestamp), ...note, repo_path: repo })
  }
  return rescues.sort((a, b) => (a.timestamp < b.timestamp ? 1 : -1))
}

/** Deletes a rescue; returns whether it existed. */
export async function deleteRescue(name: RescueName, { signal }: Cancellable): Promise<boolean> {
  const ref = refOf(name)
  const commit = await resolveCommit(name.repo_path, ref, { signal })
  return commit !== null && (await deleteRef(name.repo_path, ref, commit, { signal }))
}

/**
 * Deletes rescues older than `before`, by the time in their names, except those with a commit of another repository
 * that some branch's tree still links to; returns the deleted refs.
 */
export async function expireRescues(repo: string, before: number, { signal }: Cancellable): Promise<readonly string[]> {
  const gone: string[] = []
  const old = (await readRefs(repo, `${root}/`, { signal })).filter(
    ({ timestamp }) => Date.parse(timeOf(timestamp)) < before,
  )
  if (old.length === 0) return []
  const needed = await readNeeded(repo, { signal })
  for (const { ref, commit } of old) {
    if (needed.has(ref)) continue
    if (await deleteRef(repo, ref, commit, { signal })) gone.push(ref)
  }
  return gone
}

/** Returns the rescues with a commit that some branch's tree links to. */
async function readNeeded(repo: string, { signal }: Cancellable): Promise<ReadonlySet<string>> {
  const heads = (await readGit(repo, ['for-each-ref', '--format=%(refname)', 'refs/heads'], { signal })).split('\n')
  const links = new Set<string>()
  for (const head of heads.filter(Boolean)) {
    const { stdout } = await runGit(repo, ['ls-tree', '-r', '-z', '--full-tree', head], { signal })
    for (const [, link = ''] of stdout.toString('latin1').matchAll(/(?<=^|\0)160000 commit ([0-9a-f]{40,64})\t/g))
      links.add(link)
  }
  const needed = new Set<string>()
  for (const link of links) {
    const args = ['for-each-ref', '--contains', link, '--format=%(refname)', `${root}/`]
    // 129: the repository does not have the commit.
    const { exit_code, stdout } = await runGit(repo, args, { signal, accept: [0, 1, 128, 129] })
    if (exit_code === 0) for (const ref of stdout.toString('utf8').split('\n')) needed.add(ref)
  }
  return needed
}

function refOf({ task_id, timestamp }: Pick<RescueName, 'task_id' | 'timestamp'>): string {
  return `${root}/${task_id}/${timestamp}`
}

async function readRefs(repo: string, under: string, { signal }: Cancellable): Promise<readonly Kept[]> {
  const format = '--format=%(refname)%00%(objecttype)%00%(objectname)%00%(parent)%00%(contents:subject)'
  const out = await readGit(repo, ['for-each-ref', format, under], { signal })
  return out.split('\n').flatMap((line) => {
    const [ref = '', type, commit = '', parents = '', subject = ''] = line.split('\0')
    const [task_id, timestamp, ...more] = ref.slice(root.length + 1).split('/')
    const isOurs = type === 'commit' && more.length === 0 && timestamp !== undefined && isTimestamp(timestamp)
    if (!isOurs || task_id === undefined) return []
    return [{ ref, task_id, timestamp, commit, parent: parents.split(' ')[0] || null, subject }]
  })
}

/** Reads all notes with one command. A reflog's newest entry comes first. */
async function readNotes(
  repo: string,
  glob: string,
  { signal }: Cancellable,
): Promise<ReadonlyMap<string, RescueNote>> {
  const args = ['log', '--walk-reflogs', '--no-show-signature', '--format=%gD%x00%gs', `--glob=${glob}`]
  const { stdout } = await runGit(repo, args, { signal, accept: [0, 128] })
  const notes = new Map<string, RescueNote>()
  for (const line of stdout.toString('utf8').split('\n')) {
    const [selector = '', text = ''] = line.split('\0')
    const ref = selector.replace(/@\{\d+\}$/, '')
    const note = readNote(text)
    if (note !== null && !notes.has(ref)) notes.set(ref, note)
  }
  return notes
}

/** Describes a rescue without a note: it was never written, or git has expired the reflog. */
async function describe(repo: string, one: Kept, { signal }: Cancellable): Promise<RescueNote> {
  const isUncommitted = one.subject.startsWith(`${uncommittedIn} the workspace of task `)
  const files =
    isUncommitted && one.parent !== null
      ? await countChanged(repo, one.parent, one.commit, { signal })
      : await countLooseFiles(repo, one.commit, { signal })
  return { reason: 'unknown', kind: isUncommitted ? 'uncommitted' : 'commits', files, submodule: null }
}

async function deleteRef(repo: string, ref: string, commit: string, { signal }: Cancellable): Promise<boolean> {
  const args = ['update-ref', '-d', ref, commit]
  return (await runGit(repo, args, { signal, access: 'write', accept: [0, 1, 128] })).exit_code === 0
}

/** Returns whether the text is a real date; 20261399T… is not. */
function isTimestamp(text: string): boolean {
  return rescueTimestamp.test(text) && !Number.isNaN(Date.parse(timeOf(text)))
}

/** Converts `20261121T093000000Z-2` to `2026-11-21T09:30:00.000Z`. */
function timeOf(timestamp: string): string {
  return timestamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z.*$/, '$1-$2-$3T$4:$5:$6.$7Z')
}
