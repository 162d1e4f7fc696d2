import { computed } from 'vue'
import { useWhenBack } from '../live.ts'
import { useQuery } from '../base/query.ts'
import { useTaskTemplates } from './task-templates.ts'

/** The templates of a project while they are shown. Reloaded after any change. */
export function useTaskTemplateList(projectId: () => string, shown: () => boolean = () => true) {
  const templates = useTaskTemplates()
  const list = useQuery(
    () => templates.list(projectId()),
    () => (shown() ? ['task templates', projectId(), templates.changesOf(projectId())] : null),
  )
  useWhenBack(() => {
    if (shown()) void list.reload()
  })
  return {
    /** null until they are loaded. */
    items: list.data,
    error: list.error,
    reload: list.reload,
    /** Returns why a template can't have this name; null if it can. */
    nameRefusal: computed(() => (name: string, own: string | null = null): string | null => {
      if (name.trim() === '') return 'Enter a name'
      const isTaken = list.data.value?.some(
        (one) => one.id !== own && one.name.toLowerCase() === name.trim().toLowerCase(),
      )
      return isTaken ? 'Another template has this name' : null
    }),
  }
}
