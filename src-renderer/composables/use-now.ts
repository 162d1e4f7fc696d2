import { createSharedComposable, useTimestamp } from '@vueuse/core'

/**
 * The current time in milliseconds, updated once a second. All users share one clock, which stops
 * when there are none.
 */
export const useNow = createSharedComposable(() => useTimestamp({ interval: 1_000 }))
