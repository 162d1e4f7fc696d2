import { defineAsyncComponent, type Component } from 'vue'
import { loadScript } from '../composables/lazy-component.ts'
import ScreenFailed from './ScreenFailed.vue'
import ScreenLoading from './ScreenLoading.vue'

/** Creates a screen that loads on demand. Shows placeholders while loading takes long and when it fails. */
export function lazyScreen<T extends Component>(loader: () => Promise<{ readonly default: T }>): T {
  return defineAsyncComponent<T>({
    loader: async () => (await loadScript(loader)).default,
    delay: 300,
    loadingComponent: ScreenLoading,
    errorComponent: ScreenFailed,
  })
}
