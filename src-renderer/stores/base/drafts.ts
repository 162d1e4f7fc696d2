import { defineStore } from 'pinia'
import { computed, shallowReactive, type WritableComputedRef } from 'vue'
import { writeLocal } from './local-storage.ts'

const prefix = 'copse.draft.'

/** Unsent texts by field key, stored on this device across reloads. */
export const useDrafts = defineStore('drafts', () => {
  const texts = shallowReactive(new Map<string, string | null>())

  return {
    get(key: string): string | null {
      const known = texts.get(key)
      return known === undefined ? localStorage.getItem(prefix + key) : known
    },
    /** Stores a draft; null deletes it. */
    keep(key: string, text: string | null): void {
      // If the device's storage is full, the draft lives as long as the page.
      texts.set(key, text)
      writeLocal(prefix + key, text)
    },
  }
})

/** Returns the feedback draft of a task. All fields that ask for this feedback share it. */
export const useFeedbackDraft = (taskId: () => string): WritableComputedRef<string> =>
  useDraftText(() => `feedback/${taskId()}`)

/** Returns a field's text that survives reloads until it is sent. Empty text deletes the draft. */
export function useDraftText(key: () => string): WritableComputedRef<string> {
  const drafts = useDrafts()
  return computed({
    get: () => drafts.get(key()) ?? '',
    set: (text) => drafts.keep(key(), text === '' ? null : text),
  })
}
