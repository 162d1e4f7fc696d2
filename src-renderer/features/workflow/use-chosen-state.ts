import { computed, ref, watch } from 'vue'
import type { RawDefinition } from './edit-definition.ts'

/** The state that is looked at beside the graph: the first one until another is chosen, and again once that is gone. */
export function useChosenState(raw: () => RawDefinition | null) {
  const chosen = ref<string | null>(null)
  const chosenIndex = computed(() => {
    const index = raw()?.states.findIndex((state) => state.name === chosen.value)
    return index === -1 ? null : (index ?? null)
  })
  watch(
    [raw, chosenIndex],
    () => {
      if (chosenIndex.value === null) chosen.value = raw()?.states[0]?.name ?? null
    },
    { immediate: true },
  )
  return { chosen, chosenIndex }
}
