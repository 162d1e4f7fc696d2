import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { draftOf, newScript, sameDraft, withList } from '../../../../src-renderer/model/hook-draft.ts'
import { useHookDrafts } from '../../../../src-renderer/stores/project/hook-drafts.ts'

const draft = withList(draftOf({}), 'before_work', [{ ...newScript('before_work'), command: 'npm ci' }])
const kept = { draft, base: '{}' }

let disk: Map<string, string>
let full = false
beforeEach(() => {
  disk = new Map()
  full = false
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => disk.get(key) ?? null,
    setItem: (key: string, value: string) => {
      if (full) throw new DOMException('No room.', 'QuotaExceededError')
      disk.set(key, value)
    },
    removeItem: (key: string) => void disk.delete(key),
  })
})
afterEach(() => void vi.unstubAllGlobals())

/** The store of a freshly opened page. */
function openPage() {
  setActivePinia(createPinia())
  return useHookDrafts()
}

test('restores an unsaved draft after a reload, with new keys', () => {
  openPage().keep('p1', kept)
  const drafts = openPage()
  expect(drafts.has('p1')).toBe(true)
  const again = drafts.get('p1')
  expect(again && sameDraft(again.draft, draft)).toBe(true)
  expect(again?.base).toBe('{}')
  expect(again?.draft.before_work[0]?.key).not.toBe(draft.before_work[0]?.key)
  expect(drafts.get('p2')).toBeNull()
})

test('drops what was saved or discarded', () => {
  const drafts = openPage()
  drafts.keep('p1', kept)
  drafts.forget('p1')
  expect(drafts.has('p1')).toBe(false)
  expect(openPage().get('p1')).toBeNull()
})

test('ignores an invalid stored draft', () => {
  for (const text of ['{', '1', '{"base":"{}","draft":{}}', '{"draft":null}']) {
    disk.set('copse.hook-draft.p1', text)
    expect(openPage().get('p1'), text).toBeNull()
  }
})

test('keeps the draft while the page is open if the disk is full', () => {
  full = true
  const drafts = openPage()
  drafts.keep('p1', kept)
  expect(drafts.get('p1')).toEqual(kept)
})
