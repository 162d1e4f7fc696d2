import { ref } from 'vue'
import { pathBeing, replaceSelection } from '../model/markdown-edit.ts'
import type { EditorField } from './editor-field.ts'

/** Completes repository paths typed after an `@`. */
export function usePathCompletion(
  { current, take }: EditorField,
  findPaths: ((query: string) => Promise<readonly string[]>) | undefined,
) {
  const found = ref<readonly string[]>([])
  const chosen = ref(0)
  let asked = 0

  function close(): void {
    asked += 1
    found.value = []
  }
  function choose(path: string): void {
    const edit = current()
    const typed = pathBeing(edit)
    close()
    if (typed !== null) void take(replaceSelection({ ...edit, start: typed.at }, `\`${path}\` `))
  }
  return {
    found,
    chosen,
    close,
    choose,
    async find(): Promise<void> {
      asked += 1
      const request = asked
      const typed = pathBeing(current())
      // A failed request finds nothing; the typed text stays.
      const paths = typed === null ? [] : ((await findPaths?.(typed.query).catch(() => [])) ?? [])
      if (request !== asked) return
      found.value = paths
      chosen.value = 0
    },
    /** Handles a key of the list. Returns whether it did. */
    press({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
      const { length } = found.value
      if (length === 0 || ctrlKey || metaKey || altKey || shiftKey) return false
      if (key === 'Escape') close()
      else if (key === 'ArrowDown') chosen.value = (chosen.value + 1) % length
      else if (key === 'ArrowUp') chosen.value = (chosen.value + length - 1) % length
      else if (key === 'Enter' || key === 'Tab') choose(found.value[chosen.value] ?? '')
      else return false
      return true
    },
  }
}
