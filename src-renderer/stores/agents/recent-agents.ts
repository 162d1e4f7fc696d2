import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'
import type { Agent } from '../../../src-shared/contract/projects.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { useAgents } from './agents.ts'
import { writeLocal } from '../base/local-storage.ts'

const storageKey = 'copse.recent-agents'
const maxStored = 20

/** The agents in the order in which this device last gave them work. */
export const useRecentAgents = defineStore('recent-agents', () => {
  const agents = useAgents()
  // Storage is read on first use, because most pages never need it.
  const changed = shallowRef<readonly string[] | null>(null)
  const ids = computed(() => changed.value ?? read())
  const rank = (id: string): number => {
    const at = ids.value.indexOf(id)
    return at < 0 ? maxStored : at
  }
  const items = computed((): readonly Agent[] => agents.items.toSorted((one, other) => rank(one.id) - rank(other.id)))
  return {
    /** All agents, the most recently used first; unused ones follow by name. */
    items,
    /** The agent that gets work if none is named: the most recently used one that isn't paused; null without one. */
    usual: computed((): Agent | null => items.value.find(({ paused }) => !paused) ?? null),
    used(agentId: string): void {
      changed.value = [agentId, ...ids.value.filter((id) => id !== agentId)].slice(0, maxStored)
      writeLocal(storageKey, JSON.stringify(changed.value))
    },
  }
})

/** Reads the stored IDs. Ignores values of another shape. */
function read(): readonly string[] {
  const kept = parseJson(localStorage.getItem(storageKey) ?? '')
  return Array.isArray(kept) ? kept.filter((id) => typeof id === 'string') : []
}
