import { defineAsyncComponent, type Component } from 'vue'
import ScreenFailed from './ScreenFailed.vue'
import ScreenLoading from './ScreenLoading.vue'

/** Creates a screen that loads on demand. Shows placeholders while loading takes long and when it fails. */
export function lazyScreen<T extends Component>(loader: () => Promise<{ readonly default: T }>): T {
  return defineAsyncComponent<T>({
    loader: async () => (await loader()).default,
    delay: 300,
    loadingComponent: ScreenLoading,
    errorComponent: ScreenFailed,
  })
}
