import { readLocal } from '../base/local-storage.ts'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

/** Where this device keeps how the app looks. */
export const appearanceKey = 'copse.appearance'

export function showTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

/** The theme kept on this device. */
export const keptTheme = (): Theme => themes.find((theme) => theme === readLocal(appearanceKey)['theme']) ?? 'system'
