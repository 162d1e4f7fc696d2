import { useDocumentVisibility, useIntervalFn } from '@vueuse/core'
import { defineStore } from 'pinia'
import { shallowReactive, watch } from 'vue'
import type { Task } from '../../../../src-shared/contract/tasks.ts'
import { useClient } from '../../../stores/base/client.ts'
import { useLive } from '../../../stores/live.ts'

/** How often a board on screen asks, in milliseconds: a dev server takes longer to start. */
const pause = 10_000

/** On which port of a worktree something answers now, by the first port of its range. */
export const usePreviews = defineStore('previews', () => {
  const client = useClient()
  const ports = shallowReactive(new Map<string, ReadonlyMap<number, number>>())
  return {
    /** Null where nothing answers. */
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

/** Keeps the previews of the shown tasks up to date while the page is visible and any task has ports. */
export function useLivePreviews(tasks: () => readonly Task[]): void {
  const previews = usePreviews()
  const live = useLive()
  const visibility = useDocumentVisibility()
  const projects = () => [
    ...new Set(tasks().flatMap(({ port_base, project_id }) => (port_base === null ? [] : [project_id as string]))),
  ]
  function ask(): void {
    if (visibility.value !== 'visible' || live.offline) return
    // What a chip says is a convenience: the next time asks again.
    for (const id of projects()) void previews.load(id).catch(() => undefined)
  }
  useIntervalFn(ask, pause)
  watch([() => projects().join(' '), visibility], ask, { immediate: true })
}

/** Where the port is reached from this page: on the machine that Copse runs on. */
export function previewUrl(
  port: number,
  { protocol, hostname }: Pick<Location, 'protocol' | 'hostname'> = window.location,
): string {
  // The desktop window has no address that others know.
  return `http://${protocol.startsWith('http') ? hostname : 'localhost'}:${port}/`
}
