import { createPinia, setActivePinia } from 'pinia'
import { vi } from 'vitest'
import { createApp } from 'vue'
import { createWindowSession } from '../../src-renderer/api/session.ts'
import { useAgents } from '../../src-renderer/stores/agents/agents.ts'
import { connectionKey } from '../../src-renderer/stores/base/client.ts'
import { useExecutions } from '../../src-renderer/stores/runs/executions.ts'
import { useIntegrations } from '../../src-renderer/stores/project/integrations.ts'
import { useLive } from '../../src-renderer/stores/live.ts'
import { useNotifications } from '../../src-renderer/stores/people/notifications.ts'
import { useProjects } from '../../src-renderer/stores/project/projects.ts'
import { useTasks } from '../../src-renderer/stores/tasks/tasks.ts'
import type { Client } from '../../src-shared/client/create-client.ts'

/** The app's stores without its screens, as for a person who looks at every board. */
export interface AppPage extends Disposable {
  /** Cuts the connection to the events until `comeBack`. */
  leave(): void
  comeBack(): void
  /** How often everything was reloaded. */
  readonly resets: () => number
  /** Its whole state, sorted. */
  state(): Promise<Readonly<Record<string, unknown>>>
  /** Resolves when the page knows this task. */
  heardOf(task_id: string): Promise<void>
  /** Opens the inbox, which is kept up to date from then on. */
  openInbox(): Promise<void>
}

export function openPage(client: Client): AppPage {
  const app = createApp({})
  const pinia = createPinia()
  let line = new AbortController()
  let isAway = false
  let resets = 0
  const unlessAway = () => {
    if (isAway) throw new Error('The connection is cut.')
  }
  const cut: Client = {
    ...client,
    call: (name, input) => {
      unlessAway()
      return client.call(name, input)
    },
    events: async function* (input, after, signal) {
      unlessAway()
      if (after === null) resets++
      for await (const item of client.events(input, after, AbortSignal.any([signal, line.signal]))) {
        if (item.kind === 'reset') resets++
        yield item
      }
    },
  }
  app.provide(connectionKey, { client: cut, session: createWindowSession(), desktop: null })
  app.use(pinia)
  setActivePinia(pinia)
  const stores = app.runWithContext(() => ({
    live: useLive(),
    tasks: useTasks(),
    projects: useProjects(),
    agents: useAgents(),
    executions: useExecutions(),
    integrations: useIntegrations(),
    notifications: useNotifications(),
  }))
  stores.live.start()
  return {
    leave: () => {
      isAway = true
      line.abort()
    },
    comeBack: () => {
      if (!isAway) return
      isAway = false
      line = new AbortController()
      stores.live.tryNow()
    },
    resets: () => resets,
    state: async () => {
      const tasks = stores.projects.items.flatMap((project) => stores.tasks.byProject(project.id))
      const named = tasks.flatMap((task) => task.active_execution_id ?? [])
      // A card loads the execution that it names.
      await Promise.all(named.map((id) => stores.executions.ensure(id)))
      return {
        projects: sorted(stores.projects.items),
        tasks: sorted(tasks),
        agents: sorted(stores.agents.items),
        running: named
          .map((id) => stores.executions.byId.get(id))
          .toSorted((one, other) => String(one?.id).localeCompare(String(other?.id))),
        integrations: stores.projects.items.map((project) => stores.integrations.of(project.id)),
        // In its own order, which people see.
        inbox: stores.notifications.items,
        unread: stores.notifications.unread,
      }
    },
    heardOf: async (task_id) => {
      await vi.waitFor(() => {
        if (!stores.tasks.byId.has(task_id)) throw new Error('It has not heard of the task.')
      }, 30_000)
    },
    openInbox: () => stores.notifications.load(),
    [Symbol.dispose]: () => stores.live.stop(),
  }
}

function sorted<T extends { readonly id: string }>(items: readonly T[]): readonly T[] {
  return items.toSorted((one, other) => one.id.localeCompare(other.id))
}
