import { useDocumentVisibility, useIntervalFn } from '@vueuse/core'
import { defineStore } from 'pinia'
import { shallowReactive, watch } from 'vue'
import type { Task } from '../../../../src-shared/contract/tasks.ts'
import { useClient } from '../../../stores/base/client.ts'
import { useLive } from '../../../stores/live.ts'

/** Polling interval in milliseconds; a dev server takes longer to start. */
const pollMs = 10_000

/** The ports that respond now, by project and first port of the worktree's range. */
export const usePreviews = defineStore('previews', () => {
  const client = useClient()
  const ports = shallowReactive(new Map<string, ReadonlyMap<number, number>>())
  return {
    /** Returns the port that responds; null if none does. */
    portOf: ({ project_id, port_base }: Task): number | null =>
      port_base === null ? null : (ports.get(project_id)?.get(port_base) ?? null),
    async load(projectId: string): Promise<void> {
      const { items } = await client.call('tasks.previews', { project_id: projectId })
      const next = new Map(items.map(({ port_base, port }) => [port_base, port]))
      const known = ports.get(projectId)
      const isSame = known?.size === next.size && [...next].every(([base, port]) => known.get(base) === port)
      if (!isSame) ports.set(projectId, next)
    },
  }
})

/** Polls the previews of the shown tasks while the page is visible and a task has ports. */
export function useLivePreviews(tasks: () => readonly Task[]): void {
  const previews = usePreviews()
  const live = useLive()
  const visibility = useDocumentVisibility()
  const projects = () => [
    ...new Set(tasks().flatMap(({ port_base, project_id }) => (port_base === null ? [] : [project_id as string]))),
  ]
  function ask(): void {
    if (visibility.value !== 'visible' || live.offline) return
    // A preview link is optional, so ignore the error and retry at the next interval.
    for (const id of projects()) void previews.load(id).catch(() => undefined)
  }
  useIntervalFn(ask, pollMs)
  watch([() => projects().join(' '), visibility], ask, { immediate: true })
}

/** Returns the URL of a port on the machine that Copse runs on. */
export function previewUrl(
  port: number,
  { protocol, hostname }: Pick<Location, 'protocol' | 'hostname'> = window.location,
): string {
  // The desktop window has no HTTP host, so use localhost.
  return `http://${protocol.startsWith('http') ? hostname : 'localhost'}:${port}/`
}
