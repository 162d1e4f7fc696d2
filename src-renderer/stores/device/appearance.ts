import { defineStore } from 'pinia'
import { ref, watch } from 'vue'
import { readLocal } from '../base/local-storage.ts'
import { appearanceKey, showTheme, themes, type Theme } from './theme.ts'

/** The default width of the task panel, in pixels. */
export const defaultPanelWidth = 680

/** The appearance of the app on this device: the theme, the rail's and the panel's width, collapsed columns. */
export const useAppearance = defineStore('appearance', () => {
  const kept = read()
  const theme = ref<Theme>(kept.theme)
  const railOpen = ref(kept.railOpen)
  const panelWidth = ref(kept.panelWidth)
  /** `<project id>/<column>` of every collapsed column, and `chains` if the chains are collapsed. */
  const collapsed = ref<string[]>(kept.collapsed)

  watch(theme, showTheme, { immediate: true })
  watch([theme, railOpen, panelWidth, collapsed], () => {
    const state: Kept = {
      theme: theme.value,
      railOpen: railOpen.value,
      panelWidth: panelWidth.value,
      collapsed: collapsed.value,
    }
    localStorage.setItem(appearanceKey, JSON.stringify(state))
  })
  return {
    theme,
    railOpen,
    panelWidth,
    isCollapsed: (column: string) => collapsed.value.includes(column),
    toggleColumn(column: string): void {
      collapsed.value = collapsed.value.includes(column)
        ? collapsed.value.filter((name) => name !== column)
        : [...collapsed.value, column]
    },
  }
})

interface Kept {
  readonly theme: Theme
  readonly railOpen: boolean
  readonly panelWidth: number
  readonly collapsed: string[]
}

function read(): Kept {
  const fallback: Kept = { theme: 'system', railOpen: false, panelWidth: defaultPanelWidth, collapsed: [] }
  const state = { ...fallback, ...readLocal(appearanceKey) }
  return themes.includes(state.theme) && Array.isArray(state.collapsed) ? state : fallback
}
