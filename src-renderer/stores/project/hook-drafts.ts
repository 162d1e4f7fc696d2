import { defineStore } from 'pinia'
import { shallowReactive } from 'vue'
import { rekeyed, type HooksDraft } from '../../model/hook-draft.ts'
import { writeLocal } from '../base/local-storage.ts'

const prefix = 'copse.hook-draft.'

/** A draft that is not saved, and the saved hooks, as JSON, that it began from. */
export interface KeptDraft {
  readonly draft: HooksDraft
  readonly base: string
}

/** Edited hooks by project until they are saved or given up: kept on this device, also when the page goes. */
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
      // Where the device keeps no more, it lives as long as the page.
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
    // Someone else wrote there, or an older page: what is saved does.
    if (error instanceof SyntaxError || error instanceof TypeError) return null
    throw error
  }
}
