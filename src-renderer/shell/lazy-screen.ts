import { defineAsyncComponent, type Component } from 'vue'
import ScreenFailed from './ScreenFailed.vue'
import ScreenLoading from './ScreenLoading.vue'

/** A screen that comes when it is asked for: it says when that takes long, and when it does not come. */
export function lazyScreen<T extends Component>(loader: () => Promise<{ readonly default: T }>): T {
  return defineAsyncComponent<T>({
    loader: async () => (await loader()).default,
    delay: 300,
    loadingComponent: ScreenLoading,
    errorComponent: ScreenFailed,
  })
}
