import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { writeLocal } from '../base/local-storage.ts'

const storageKey = 'copse.recent-agents'
const maxStored = 20

/** The agents in the order in which this device last gave them work. */
export const useRecentAgents = defineStore('recent-agents', () => {
  // Storage is read on first use, because most pages never need it.
  const changed = shallowRef<readonly string[] | null>(null)
  const ids = computed(() => changed.value ?? read())
  return {
    /** Agent IDs, the most recently used first. */
    ids,
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
