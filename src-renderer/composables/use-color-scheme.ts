import { onScopeDispose, readonly, shallowRef, type Ref } from 'vue'

/** Whether the page is light or dark now, however that came about: the chosen theme or the system's. */
export function useColorScheme(): Readonly<Ref<'light' | 'dark'>> {
  const system = matchMedia('(prefers-color-scheme: dark)')
  function current(): 'light' | 'dark' {
    const schemes = getComputedStyle(document.documentElement).colorScheme.split(' ')
    return schemes.includes('dark') && (system.matches || !schemes.includes('light')) ? 'dark' : 'light'
  }
  const scheme = shallowRef(current())
  const update = () => (scheme.value = current())
  const observer = new MutationObserver(update)
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
  system.addEventListener('change', update)
  onScopeDispose(() => {
    observer.disconnect()
    system.removeEventListener('change', update)
  })
  return readonly(scheme)
}
