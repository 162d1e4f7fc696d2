import type { CommentTarget, ForgeComment, ForgeThread } from '../../../ports/forges.ts'
import { parseAnswer, parseItems } from '../parse-answer.ts'
import { escapeCommands, unescapeCommands } from './commands.ts'
import { label, listUrl, type GitlabProject } from './gitlab-api.ts'
import { isMember } from './members.ts'
import { whileNotArchived, writeUrl } from './project.ts'
import { recallPull } from './pulls.ts'
import { GitlabDiscussion, GitlabNote, type GitlabPull } from './shapes.ts'

interface Discussion {
  readonly id: string
  readonly isSingle: boolean
  /** Without what GitLab wrote itself; oldest first. */
  readonly notes: readonly GitlabNote[]
}

const collection = ({ kind, number }: CommentTarget) => `/${kind === 'pull' ? 'merge_requests' : 'issues'}/${number}`

async function readDiscussions(project: GitlabProject, on: CommentTarget): Promise<readonly Discussion[]> {
  const items = await project.api.list(listUrl(`${project.url}${collection(on)}/discussions`), { pages: 30 })
  return parseItems(GitlabDiscussion, items).flatMap(({ id, individual_note, notes }) => {
    const written = parseItems(GitlabNote, notes).filter(({ system }) => !system)
    return written.length === 0 ? [] : [{ id, isSingle: individual_note, notes: written }]
  })
}

export async function readThreads(project: GitlabProject, number: number): Promise<readonly ForgeThread[]> {
  const discussions = await readDiscussions(project, { kind: 'pull', number })
  const threads: ForgeThread[] = []
  for (const discussion of discussions) {
    const [first] = discussion.notes
    // What nobody can resolve is a remark, as on a commit.
    if (discussion.isSingle || first === undefined || !first.resolvable) continue
    threads.push(await toThread(project, await recallPull(project, number), discussion, first))
  }
  return threads
}

async function toThread(
  project: GitlabProject,
  pull: GitlabPull,
  { id, notes }: Discussion,
  first: GitlabNote,
): Promise<ForgeThread> {
  const { position } = first
  // GitLab moves positions along with their line; one that stayed behind has lost it.
  const isOutdated = Boolean(position) && position?.head_sha !== pull.sha
  const isNew = position?.new_line !== null && position?.new_line !== undefined
  return {
    id,
    path: (isNew ? position?.new_path : (position?.old_path ?? position?.new_path)) ?? null,
    line: isOutdated ? null : (position?.new_line ?? position?.old_line ?? null),
    side: isNew || !position?.old_line ? 'new' : 'old',
    resolved: notes.filter(({ resolvable }) => resolvable).every(({ resolved }) => resolved === true),
    outdated: isOutdated,
    url: `${pull.web_url}#note_${first.id}`,
    comments: await toComments(project, notes),
  }
}

/** Returns the comments that are in no thread. */
export async function readComments(project: GitlabProject, on: CommentTarget): Promise<readonly ForgeComment[]> {
  const discussions = await readDiscussions(project, on)
  const loose = discussions.filter(({ isSingle, notes }) => isSingle || notes[0]?.resolvable !== true)
  const comments = await toComments(
    project,
    loose.flatMap(({ notes }) => notes),
  )
  return [...comments].sort((a, b) => Number(a.id) - Number(b.id))
}

async function toComments(project: GitlabProject, notes: readonly GitlabNote[]): Promise<ForgeComment[]> {
  const comments: ForgeComment[] = []
  for (const note of notes) comments.push(await toComment(project, note))
  return comments
}

async function toComment(project: GitlabProject, note: GitlabNote): Promise<ForgeComment> {
  return {
    id: String(note.id),
    author: note.author?.username ?? '',
    is_member: await isMember(project, note.author?.id),
    body: unescapeCommands(note.body ?? ''),
    created_at: note.created_at,
  }
}

export async function writeComment(project: GitlabProject, on: CommentTarget, body: string): Promise<ForgeComment> {
  return writeNote(project, `${collection(on)}/notes`, body)
}

export async function replyTo(project: GitlabProject, number: number, thread: string, body: string) {
  return writeNote(project, `/merge_requests/${number}/discussions/${encodeURIComponent(thread)}/notes`, body)
}

async function writeNote(project: GitlabProject, path: string, body: string): Promise<ForgeComment> {
  const url = `${await writeUrl(project)}${path}`
  const request = { method: 'POST', url, body: { body: escapeCommands(body) } } as const
  const { json } = await whileNotArchived(project, () => project.api.send(request))
  return toComment(project, parseAnswer(GitlabNote, json, label))
}

export async function resolveThread(project: GitlabProject, number: number, thread: string): Promise<void> {
  const path = `/merge_requests/${number}/discussions/${encodeURIComponent(thread)}`
  const url = `${await writeUrl(project)}${path}?resolved=true`
  await whileNotArchived(project, () => project.api.send({ method: 'PUT', url }))
}
