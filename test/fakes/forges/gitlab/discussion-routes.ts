import { runCommands } from './commands.ts'
import { failure, findMergeRequest, notFound, page, text, type Context, type Route } from './context.ts'
import { showDiscussion, showIssue, showNote } from './show.ts'
import { accessOf, nextId, nextTime, type Note, type Noteable } from './state.ts'

const noteable = String.raw`^\/(merge_requests|issues)\/(\d+)`

export const discussionRoutes: readonly Route[] = [
  { method: 'GET', path: new RegExp(`${noteable}/discussions$`), access: 10, answer: listDiscussions },
  { method: 'POST', path: new RegExp(`${noteable}/notes$`), access: 10, answer: addNote },
  { method: 'POST', path: new RegExp(`${noteable}/discussions/([^/]+)/notes$`), access: 10, answer: reply },
  { method: 'PUT', path: new RegExp(`${noteable}/discussions/([^/]+)$`), access: 10, answer: resolve },
  { method: 'GET', path: /^\/issues\/(\d+)$/, access: 10, answer: readIssue },
  { method: 'PUT', path: /^\/issues\/(\d+)$/, access: 20, answer: editIssue },
]

function find(context: Context): Noteable | undefined {
  const [kind, iid = ''] = context.params
  return kind === 'issues' ? findIssue(context, iid) : findMergeRequest(context, iid)
}

const findIssue = ({ project }: Context, iid: string) => project.issues.find((issue) => issue.iid === Number(iid))

function listDiscussions(context: Context) {
  const on = find(context)
  if (!on) return notFound()
  return page(
    context,
    on.discussions.map((discussion) => showDiscussion(context.state, discussion)),
  )
}

/** Without what is a command: a text of commands alone is no note. */
function newNote({ state, request, username }: Context, on: Noteable, resolvable: boolean): Note | null {
  const body = runCommands(state, on, text(request, 'body'))
  on.updated_at = nextTime(state)
  if (body === '') return null
  return {
    id: nextId(state),
    user: username,
    body,
    created_at: on.updated_at,
    system: false,
    resolvable,
    resolved: false,
    position: null,
  }
}

const commandsAlone = { status: 202, body: { commands_changes: {}, summary: ['Closed this.'] } }

function addNote(context: Context) {
  const on = find(context)
  if (!on) return notFound()
  const note = newNote(context, on, false)
  if (!note) return commandsAlone
  on.discussions.push({ id: `single-${note.id}`, isSingle: true, notes: [note] })
  return { status: 201, body: showNote(context.state, note) }
}

function reply(context: Context) {
  const on = find(context)
  const discussion = on?.discussions.find(({ id }) => id === context.params[2])
  if (!on || !discussion) return notFound('Discussion Not Found')
  const note = newNote(context, on, discussion.notes[0]?.resolvable ?? false)
  if (!note) return commandsAlone
  discussion.notes.push(note)
  return { status: 201, body: showNote(context.state, note) }
}

function resolve(context: Context) {
  const { state, project, username, request } = context
  const on = find(context)
  const discussion = on?.discussions.find(({ id }) => id === context.params[2])
  if (!on || !discussion) return notFound('Discussion Not Found')
  if (accessOf(project, username) < 30 && on.user !== username) return failure(403, '403 Forbidden')
  for (const note of discussion.notes) if (note.resolvable) note.resolved = request.query['resolved'] === 'true'
  return { status: 200, body: showDiscussion(state, discussion) }
}

function readIssue(context: Context) {
  const issue = findIssue(context, context.params[0] ?? '')
  return issue
    ? { status: 200, body: showIssue(context.url, context.project, context.state, issue) }
    : notFound('Issue Not Found')
}

function editIssue(context: Context) {
  const { request, url, project, state } = context
  const issue = findIssue(context, context.params[0] ?? '')
  if (!issue) return notFound('Issue Not Found')
  if (text(request, 'state_event') === 'close') issue.state = 'closed'
  for (const label of text(request, 'add_labels').split(',')) if (label !== '') issue.labels.add(label)
  for (const label of text(request, 'remove_labels').split(',')) issue.labels.delete(label)
  return { status: 200, body: showIssue(url, project, state, issue) }
}
