import { readLocal } from '../base/local-storage.ts'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

/** The local-storage key of the appearance settings. */
export const appearanceKey = 'copse.appearance'

export function showTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

/** Returns the theme stored on this device. */
export const keptTheme = (): Theme => themes.find((theme) => theme === readLocal(appearanceKey)['theme']) ?? 'system'
