import { defineStore } from 'pinia'
import { ref, watch } from 'vue'

const key = 'copse.diff'

/** The view options of the diff, stored on this device. */
export const useDiffPreferences = defineStore('diff-preferences', () => {
  const kept = (localStorage.getItem(key) ?? '').split(' ')
  /** Whether to show whitespace changes. */
  const whitespace = ref(!kept.includes('no-whitespace'))
  /** Whether to expand generated files initially. */
  const generated = ref(kept.includes('generated'))

  /** Whether to read the branch as chapters, or file by file. */
  const reading = ref<'chapters' | 'files'>(kept.includes('files') ? 'files' : 'chapters')

  watch([whitespace, generated, reading], () => {
    const words = [
      ...(whitespace.value ? [] : ['no-whitespace']),
      ...(generated.value ? ['generated'] : []),
      ...(reading.value === 'files' ? ['files'] : []),
    ]
    localStorage.setItem(key, words.join(' '))
  })
  return { whitespace, generated, reading }
})
