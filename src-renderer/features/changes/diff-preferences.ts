import { defineStore } from 'pinia'
import { ref, watch } from 'vue'

const key = 'copse.diff'

/** How the person likes to read changes, on this device. */
export const useDiffPreferences = defineStore('diff-preferences', () => {
  const kept = (localStorage.getItem(key) ?? '').split(' ')
  /** Show whitespace changes are shown, too. */
  const whitespace = ref(!kept.includes('no-whitespace'))
  /** Files that no person writes are open from the start. */
  const generated = ref(kept.includes('generated'))

  watch([whitespace, generated], () => {
    const words = [...(whitespace.value ? [] : ['no-whitespace']), ...(generated.value ? ['generated'] : [])]
    localStorage.setItem(key, words.join(' '))
  })
  return { whitespace, generated }
})
