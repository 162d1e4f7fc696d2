import { createSharedComposable, useTimestamp } from '@vueuse/core'

/** The current time in milliseconds, once a second: one clock for all, which stands still while nobody looks. */
export const useNow = createSharedComposable(() => useTimestamp({ interval: 1_000 }))
