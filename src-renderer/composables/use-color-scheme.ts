import { useMediaQuery, useMutationObserver } from '@vueuse/core'
import { readonly, shallowRef, watch, type Ref } from 'vue'

/** Returns whether the page is light or dark now, by the chosen theme or the system's. */
export function useColorScheme(): Readonly<Ref<'light' | 'dark'>> {
  const isSystemDark = useMediaQuery('(prefers-color-scheme: dark)')
  function current(): 'light' | 'dark' {
    const schemes = getComputedStyle(document.documentElement).colorScheme.split(' ')
    return schemes.includes('dark') && (isSystemDark.value || !schemes.includes('light')) ? 'dark' : 'light'
  }
  const scheme = shallowRef(current())
  const update = () => (scheme.value = current())
  useMutationObserver(document.documentElement, update, { attributes: true, attributeFilter: ['data-theme'] })
  watch(isSystemDark, update)
  return readonly(scheme)
}
