import { actorOf } from '../../domain/access/principal.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findTask, throwNotFound, unwrap } from '../find.ts'

type Names =
  | 'integrations.check'
  | 'pull_requests.open'
  | 'pull_requests.get'
  | 'pull_requests.sync'
  | 'pull_requests.merge'
  | 'pull_requests.close'
  | 'pull_requests.reopen'
  | 'pull_requests.ready'
  | 'pull_requests.reply'

/** Handlers for pull requests and what a token may do there. */
export function createPullRequestHandlers({ store, engine }: ApiParts): Handlers<Names> {
  const { pullRequests } = engine
  const { read } = store
  return {
    'integrations.check': async ({ project_id }, { signal }) => {
      const { can, rights, token_expires_at } = unwrap(await pullRequests.check(project_id, signal))
      return { can, rights: [...rights], token_expires_at }
    },
    'pull_requests.open': async ({ task_id, draft = null, title = null, body = null }, { principal, signal }) => {
      const wish = { draft, title, body }
      const { record, created } = unwrap(await pullRequests.open(task_id, wish, actorOf(principal), signal))
      return { pull_request: pullRequests.view(record), created }
    },
    'pull_requests.get': ({ task_id }) =>
      pullRequests.view(read.pull_requests.of(findTask(read, task_id).id) ?? throwNotFound('pull_request')),
    'pull_requests.sync': async ({ task_id }, { signal }) =>
      pullRequests.view(unwrap(await pullRequests.sync(task_id, signal))),
    'pull_requests.merge': async ({ task_id, method = null, when_ready }, { signal }) =>
      pullRequests.view(unwrap(await pullRequests.merge(task_id, { method, when_ready }, signal))),
    'pull_requests.close': async ({ task_id }, { signal }) =>
      pullRequests.view(unwrap(await pullRequests.close(task_id, signal))),
    'pull_requests.reopen': async ({ task_id }, { signal }) =>
      pullRequests.view(unwrap(await pullRequests.reopen(task_id, signal))),
    'pull_requests.ready': async ({ task_id }, { signal }) =>
      pullRequests.view(unwrap(await pullRequests.ready(task_id, signal))),
    'pull_requests.reply': async ({ task_id, thread_id, body, resolve }, { principal, signal }) => {
      // What a run says is about work that the forge gets with the next push.
      const by = { triggered_by: actorOf(principal), with_push: principal.kind === 'agent' }
      const wish = { thread: thread_id, body, resolve }
      return pullRequests.view(unwrap(await pullRequests.reply(task_id, wish, by, signal)))
    },
  }
}
