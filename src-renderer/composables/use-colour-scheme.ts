import { onScopeDispose, readonly, shallowRef, type Ref } from 'vue'

/** Whether the page is light or dark now, however that came about: the chosen theme or the system's. */
export function useColourScheme(): Readonly<Ref<'light' | 'dark'>> {
  const current = () => (getComputedStyle(document.documentElement).colorScheme.includes('dark') ? 'dark' : 'light')
  const scheme = shallowRef<'light' | 'dark'>(current())
  const update = () => (scheme.value = current())
  const system = matchMedia('(prefers-color-scheme: dark)')
  const observer = new MutationObserver(update)
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
  system.addEventListener('change', update)
  onScopeDispose(() => {
    observer.disconnect()
    system.removeEventListener('change', update)
  })
  return readonly(scheme)
}
