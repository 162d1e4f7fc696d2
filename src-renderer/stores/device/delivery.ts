import { defineStore } from 'pinia'
import { ref, watch } from 'vue'
import type { NoticeResponse, SystemNotice } from '../../../src-shared/contract/desktop.ts'
import { useConnection } from '../base/client.ts'
import { readLocal } from '../base/local-storage.ts'

const key = 'copse.delivery'

/** This device's settings for announcing notifications. All are off until the user turns them on. */
export const useDelivery = defineStore('delivery', () => {
  const { desktop } = useConnection()
  const kept = read()
  const system = ref(kept.system)
  const sound = ref(kept.sound)
  const badge = ref(kept.badge)
  /** The IDs of muted projects. Their notifications appear only in the inbox. */
  const muted = ref<readonly string[]>(kept.muted)

  watch([system, sound, badge, muted], () => {
    const state: Kept = { system: system.value, sound: sound.value, badge: badge.value, muted: muted.value }
    localStorage.setItem(key, JSON.stringify(state))
  })
  /** Returns whether the system lets this page show notifications. Asks the user if that is undecided. */
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
    /** Turns system notifications on or off. Returns false if the system forbids them. */
    setSystem: async (on: boolean): Promise<boolean> => {
      system.value = on && (await mayShow())
      return system.value === on
    },
    /** Shows a system notification. In a browser, a page's notification has no buttons, only a click. */
    show(notice: SystemNotice, onResponse: (response: NoticeResponse) => void): void {
      if (desktop !== null) return desktop.notify(notice, onResponse)
      // The user may have revoked the permission.
      if (!('Notification' in window) || Notification.permission !== 'granted') return
      const shown = new Notification(notice.title, { body: notice.body, tag: notice.tag, silent: true })
      shown.onclick = () => {
        window.focus()
        shown.close()
        onResponse({ kind: 'clicked' })
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

/** Reads the stored settings; everything is off by default. */
function read(): Kept {
  const { system, sound, badge, muted } = readLocal(key)
  const ids = Array.isArray(muted) ? muted.filter((id) => typeof id === 'string') : []
  return { system: system === true, sound: sound === true, badge: badge === true, muted: ids }
}
