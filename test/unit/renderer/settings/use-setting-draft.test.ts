import { afterEach, expect, test, vi } from 'vitest'
import { ref } from 'vue'
import { useSettingDraft } from '../../../../src-renderer/features/settings/project/use-setting-draft.ts'
import { withService } from '../renderer-app.ts'

afterEach(() => vi.unstubAllGlobals())

function edited() {
  const saved = ref('npm test')
  const role = ref('coder')
  const { used: draft } = withService({}, () =>
    useSettingDraft(
      () => `prompt/${role.value}`,
      () => saved.value,
    ),
  )
  return { saved, role, draft }
}

test('shows what is saved elsewhere, but never over a draft', () => {
  const { saved, draft } = edited()
  saved.value = 'npm run check'
  expect([draft.text.value, draft.changed.value]).toEqual(['npm run check', false])
  draft.text.value = 'npm run check\nnpm run lint'
  expect([draft.changed.value, draft.overtaken.value]).toEqual([true, false])
  saved.value = 'make'
  expect([draft.text.value, draft.overtaken.value]).toEqual(['npm run check\nnpm run lint', true])
  draft.discard()
  expect([draft.text.value, draft.changed.value, draft.overtaken.value]).toEqual(['make', false, false])
})

test('keeps a draft under its key until it is saved', () => {
  const { saved, role, draft } = edited()
  draft.text.value = 'Be brief.'
  role.value = 'auditor'
  expect(draft.text.value).toBe('npm test')
  role.value = 'coder'
  expect(draft.text.value).toBe('Be brief.')
  draft.text.value = saved.value
  expect(draft.changed.value).toBe(false)
})

test('keeps what was typed since it was sent', () => {
  const { saved, draft } = edited()
  draft.text.value = 'one '
  saved.value = 'one'
  draft.settle('one ')
  expect([draft.text.value, draft.changed.value]).toEqual(['one', false])
  draft.text.value = 'two'
  const sent = draft.text.value
  draft.text.value = 'two and more'
  saved.value = 'two'
  draft.settle(sent)
  expect([draft.text.value, draft.changed.value, draft.overtaken.value]).toEqual(['two and more', true, false])
})
