import { nextTick, type ShallowRef } from 'vue'
import type { Edit } from '../model/markdown-edit.ts'

/** A text field with its selection. */
export interface EditorField {
  current(): Edit
  /** Applies an edit to the field, and sets its selection and focus. */
  take(edit: Edit): Promise<void>
  /** Replaces text while the user types in the field: the selection stays at its place in the text. */
  replace(old: string, by: string): void
}

export function createEditorField(
  field: Readonly<ShallowRef<HTMLTextAreaElement | null>>,
  text: { value: string },
): EditorField {
  const current = (): Edit => {
    const { value: area } = field
    const end = text.value.length
    return { text: text.value, start: area?.selectionStart ?? end, end: area?.selectionEnd ?? end }
  }
  return {
    current,
    take: async (edit) => {
      text.value = edit.text
      await nextTick()
      field.value?.focus()
      field.value?.setSelectionRange(edit.start, edit.end)
    },
    replace: (old, by) => {
      const at = text.value.indexOf(old)
      if (at === -1) return
      const { start, end } = current()
      const moved = (place: number) => (place >= at + old.length ? place + by.length - old.length : place)
      const isHere = document.activeElement === field.value
      text.value = text.value.slice(0, at) + by + text.value.slice(at + old.length)
      void nextTick(() => isHere && field.value?.setSelectionRange(moved(start), moved(end)))
    },
  }
}
