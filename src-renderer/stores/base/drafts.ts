import { defineStore } from 'pinia'
import { computed, shallowReactive, type WritableComputedRef } from 'vue'
import { writeLocal } from './local-storage.ts'

const prefix = 'copse.draft.'

/** Unsent text by its place, stored on this device across reloads. */
export const useDrafts = defineStore('drafts', () => {
  const texts = shallowReactive(new Map<string, string | null>())

  return {
    get(key: string): string | null {
      const known = texts.get(key)
      return known === undefined ? localStorage.getItem(prefix + key) : known
    },
    /** Null forgets it. */
    keep(key: string, text: string | null): void {
      // Where the device keeps no more, it lives as long as the page.
      texts.set(key, text)
      writeLocal(prefix + key, text)
    },
  }
})

/** What is said when a task is sent back: the same wherever it is written. */
export const useFeedbackDraft = (taskId: () => string): WritableComputedRef<string> =>
  useDraftText(() => `feedback/${taskId()}`)

/** The text of a field that keeps what is typed until it is sent; empty is nothing. */
export function useDraftText(key: () => string): WritableComputedRef<string> {
  const drafts = useDrafts()
  return computed({
    get: () => drafts.get(key()) ?? '',
    set: (text) => drafts.keep(key(), text === '' ? null : text),
  })
}
