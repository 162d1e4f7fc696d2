import { useMediaQuery } from '@vueuse/core'
import type { Ref } from 'vue'

/** Whether the window is as narrow as a phone, where one thing is shown at a time and decisions are in thumb reach. */
export const usePhone = (): Readonly<Ref<boolean>> => useMediaQuery('(max-width: 560px)')
