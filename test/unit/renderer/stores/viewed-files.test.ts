import { describe, expect, test, vi } from 'vitest'
import { useViewedFiles } from '../../../../src-renderer/stores/tasks/viewed-files.ts'
import { ApiError } from '../../../../src-shared/contract/errors.ts'
import { onService } from '../renderer-app.ts'

const content = { path: 'a.ts', blob: 'one', new_mode: '100644' }
const told = (viewed: boolean) => ({ files: [content], hunks: [], viewed })
const shown = { ...content, viewed: false }

/** The store on a service that answers with `reply`. */
const storeWith = (reply: (input: unknown) => Promise<unknown>) =>
  onService((_name, input) => reply(input), useViewedFiles)

describe('viewed marks', () => {
  test('follow the service until the person marks', () => {
    const store = storeWith(() => Promise.resolve(null))
    expect(store.isViewed('t', shown)).toBe(false)
    expect(store.isViewed('t', { ...shown, viewed: true })).toBe(true)
  })
  test('appear at once, and go to the service with the content that was seen', async () => {
    const sent: unknown[] = []
    const store = storeWith((input) => {
      sent.push(input)
      return Promise.resolve(null)
    })
    const marking = store.mark('t', [shown], true)
    expect(store.isViewed('t', shown)).toBe(true)
    await marking
    expect(sent).toEqual([{ task_id: 't', files: [content], viewed: true }])
    expect(store.isViewed('other', shown)).toBe(false)
  })
  test('disappear when content or mode changes', async () => {
    const store = storeWith(() => Promise.resolve(null))
    await store.mark('t', [shown], true)
    expect(store.isViewed('t', { ...shown, blob: 'two' })).toBe(false)
    expect(store.isViewed('t', { ...shown, new_mode: '100755' })).toBe(false)
    expect(store.isViewed('t', { ...shown, path: 'b.ts' })).toBe(false)
  })
  test('are undone if the service refuses them', async () => {
    const store = storeWith(() => Promise.reject(new ApiError({ code: 'not_a_member', message: 'No.' })))
    await expect(store.mark('t', [shown], true)).rejects.toThrow('No.')
    expect(store.isViewed('t', shown)).toBe(false)
  })
  test('ignore repeated events of one’s own marks, and follow later ones', async () => {
    const store = storeWith(() => Promise.resolve(null))
    const marking = [store.mark('t', [shown], true), store.mark('t', [shown], false)]
    store.put('t', told(true))
    expect(store.isViewed('t', shown)).toBe(false)
    await Promise.all(marking)
    await store.mark('t', [shown], true)
    store.put('t', told(false))
    expect(store.isViewed('t', shown)).toBe(true)
    store.put('t', told(true))
    store.put('t', told(false))
    expect(store.isViewed('t', shown)).toBe(false)
  })
  test('wait for no event after a full reload', async () => {
    const store = storeWith(() => Promise.resolve(null))
    await store.mark('t', [shown], true)
    store.clear()
    await store.mark('t', [shown], true)
    store.put('t', told(false))
    expect(store.isViewed('t', shown)).toBe(false)
  })
  test('expect no event after a refusal', async () => {
    const refusals = [new ApiError({ code: 'not_a_member', message: 'No.' })]
    const store = storeWith(() => {
      const refusal = refusals.pop()
      return refusal ? Promise.reject(refusal) : Promise.resolve(null)
    })
    await expect(store.mark('t', [shown], true)).rejects.toThrow('No.')
    await store.mark('t', [shown], true)
    store.put('t', told(false))
    expect(store.isViewed('t', shown)).toBe(false)
  })
  test('reach the service one after the other, in order', async () => {
    const sent: boolean[] = []
    const answers: (() => void)[] = []
    const store = storeWith((input) => {
      sent.push((input as { viewed: boolean }).viewed)
      return new Promise((resolve) => answers.push(() => resolve(null)))
    })
    const marking = [store.mark('t', [shown], true), store.mark('t', [shown], false)]
    await vi.waitFor(() => expect(answers).toHaveLength(1))
    expect(sent).toEqual([true])
    answers[0]?.()
    await vi.waitFor(() => expect(answers).toHaveLength(2))
    expect(sent).toEqual([true, false])
    answers[1]?.()
    await Promise.all(marking)
  })
  test('follow marks made elsewhere until a full reload', () => {
    const store = storeWith(() => Promise.resolve(null))
    store.put('t', told(true))
    expect(store.isViewed('t', shown)).toBe(true)
    store.clear()
    expect(store.isViewed('t', shown)).toBe(false)
  })
  test('of hunks appear at once, are undone if refused, and follow those made elsewhere', async () => {
    const hunk = { id: '1', viewed: false }
    const sent: unknown[] = []
    const refusals: ApiError[] = []
    const store = storeWith((input) => {
      sent.push(input)
      const refusal = refusals.pop()
      return refusal ? Promise.reject(refusal) : Promise.resolve(null)
    })
    expect(store.isHunkViewed('t', hunk)).toBe(false)
    expect(store.isHunkViewed('t', { ...hunk, viewed: true })).toBe(true)
    const marking = store.markHunks('t', ['1'], true)
    expect(store.isHunkViewed('t', hunk)).toBe(true)
    expect(store.isHunkViewed('other', hunk)).toBe(false)
    await marking
    expect(sent).toEqual([{ task_id: 't', hunks: ['1'], viewed: true }])
    // The echo of one’s own mark brings the file’s along; a later one is from elsewhere.
    store.put('t', { files: [content], hunks: ['1'], viewed: true })
    expect(store.isViewed('t', shown)).toBe(true)
    store.put('t', { files: [content], hunks: ['1'], viewed: false })
    expect(store.isHunkViewed('t', hunk)).toBe(false)
    expect(store.isViewed('t', shown)).toBe(false)
    refusals.push(new ApiError({ code: 'not_a_member', message: 'No.' }))
    await expect(store.markHunks('t', ['1'], true)).rejects.toThrow('No.')
    expect(store.isHunkViewed('t', hunk)).toBe(false)
    store.clear()
    expect(store.isHunkViewed('t', { ...hunk, viewed: true })).toBe(true)
  })
})
