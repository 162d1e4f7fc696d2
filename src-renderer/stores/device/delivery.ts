import { defineStore } from 'pinia'
import { ref, watch } from 'vue'
import type { SystemNotice } from '../../../src-shared/contract/desktop.ts'
import { useConnection } from '../base/client.ts'
import { readLocal } from '../base/local-storage.ts'

const key = 'copse.delivery'

/** How this device announces notifications; everything is off until the person turns it on. */
export const useDelivery = defineStore('delivery', () => {
  const { desktop } = useConnection()
  const kept = read()
  const system = ref(kept.system)
  const sound = ref(kept.sound)
  const badge = ref(kept.badge)
  /** The ids of projects of which nothing is heard or shown, though it is in the inbox. */
  const muted = ref<readonly string[]>(kept.muted)

  watch([system, sound, badge, muted], () => {
    const state: Kept = { system: system.value, sound: sound.value, badge: badge.value, muted: muted.value }
    localStorage.setItem(key, JSON.stringify(state))
  })
  /** Whether the system lets this page show notifications; asks the person where that is open. */
  async function mayShow(): Promise<boolean> {
    if (desktop !== null) return true
    if (!('Notification' in window)) return false
    return (await Notification.requestPermission()) === 'granted'
  }
  return {
    system,
    sound,
    badge,
    isMuted: (projectId: string): boolean => muted.value.includes(projectId),
    mute(projectId: string, on: boolean): void {
      muted.value = [...muted.value.filter((id) => id !== projectId), ...(on ? [projectId] : [])]
    },
    /** Answers whether it is as wished: the system may forbid notifications. */
    setSystem: async (on: boolean): Promise<boolean> => {
      system.value = on && (await mayShow())
      return system.value === on
    },
    /** Hands it to the system. `open` is called when the person clicks it. */
    show(notice: SystemNotice, open: () => void): void {
      if (desktop !== null) return desktop.notify(notice, open)
      // The permission may have been taken back since.
      if (!('Notification' in window) || Notification.permission !== 'granted') return
      const shown = new Notification(notice.title, { body: notice.body, tag: notice.tag, silent: true })
      shown.onclick = () => {
        window.focus()
        shown.close()
        open()
      }
    },
    setBadge: (count: number): void => desktop?.setBadge(badge.value ? count : 0),
  }
})

interface Kept {
  readonly system: boolean
  readonly sound: boolean
  readonly badge: boolean
  readonly muted: readonly string[]
}

/** Everything is off by default. */
function read(): Kept {
  const { system, sound, badge, muted } = readLocal(key)
  const ids = Array.isArray(muted) ? muted.filter((id) => typeof id === 'string') : []
  return { system: system === true, sound: sound === true, badge: badge === true, muted: ids }
}
