import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server'
import type { FeedItem } from '../../../src-shared/contract/events.ts'
import type { Api } from '../../api/api.ts'
import { diffUri, taskUri } from './resources.ts'
import type { McpCaller } from './scope.ts'

/**
 * Returns the changes of tasks that one caller may see, for a request's subscriptions; each reports changes from its
 * start until the caller is gone. `onerror` receives why one ended early.
 */
export function createMcpChanges(
  api: Api,
  { principal, remote_address, gone }: McpCaller,
  onerror: (error: unknown) => void,
): ServerEventBus {
  return {
    publish: () => undefined,
    subscribe: (listener) => {
      const left = new AbortController()
      const signal = AbortSignal.any([left.signal, gone])
      const tell = async () => {
        for await (const item of api.events({}, null, { principal, remote_address, signal })) {
          for (const change of changesOf(item)) listener(change)
        }
      }
      tell().catch(onerror)
      return () => {
        left.abort()
      }
    },
  }
}

/** Returns the resource updates that an event means. */
function changesOf(item: FeedItem): ServerEvent[] {
  if (item.kind === 'reset') return [{ kind: 'resources_list_changed' }]
  if (item.kind === 'worktree') return [updated(diffUri(item.change.task_id))]
  if (item.kind !== 'event') return []
  const { type, data } = item.event
  switch (type) {
    case 'task.created':
    case 'task.deleted':
      return [{ kind: 'resources_list_changed' }]
    case 'task.updated':
    case 'task.transitioned':
      return [updated(taskUri(data.task_id))]
    case 'execution.finished':
    case 'workspace.updated':
    case 'workspace.cleaned':
      return [updated(taskUri(data.task_id)), updated(diffUri(data.task_id))]
    default:
      return []
  }
}

const updated = (uri: string): ServerEvent => ({ kind: 'resource_updated', uri })
