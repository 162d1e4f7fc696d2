import { defineStore } from 'pinia'
import { shallowReactive } from 'vue'
import { rekeyed, type HooksDraft } from '../../model/hook-draft.ts'
import { writeLocal } from '../base/local-storage.ts'

const prefix = 'copse.hook-draft.'

/** An unsaved draft, and the saved hooks that it started from, as JSON. */
export interface KeptDraft {
  readonly draft: HooksDraft
  readonly base: string
}

/** Unsaved edits of hooks by project, stored on this device until they are saved or discarded. */
export const useHookDrafts = defineStore('hook-drafts', () => {
  const drafts = shallowReactive(new Map<string, KeptDraft>())

  return {
    has: (projectId: string): boolean => drafts.has(projectId) || localStorage.getItem(prefix + projectId) !== null,
    get(projectId: string): KeptDraft | null {
      const known = drafts.get(projectId)
      if (known) return known
      const read = parse(localStorage.getItem(prefix + projectId))
      if (read) drafts.set(projectId, read)
      return read
    },
    keep(projectId: string, draft: KeptDraft): void {
      // If the device's storage is full, the draft lives as long as the page.
      drafts.set(projectId, draft)
      writeLocal(prefix + projectId, JSON.stringify(draft))
    },
    forget(projectId: string): void {
      drafts.delete(projectId)
      writeLocal(prefix + projectId, null)
    },
  }
})

function parse(text: string | null): KeptDraft | null {
  if (text === null) return null
  try {
    const { draft, base } = JSON.parse(text) as KeptDraft
    return typeof base === 'string' ? { draft: rekeyed(draft), base } : null
  } catch (error) {
    // An older version or another program wrote the value, so the saved hooks are used.
    if (error instanceof SyntaxError || error instanceof TypeError) return null
    throw error
  }
}
