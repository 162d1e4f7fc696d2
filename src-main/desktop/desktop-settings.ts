import { readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import type { DesktopSettings, PagePreferences } from '../../src-shared/contract/desktop.ts'
import { parseJson } from '../../src-shared/lang/parse-json.ts'

/** The settings file's content. */
interface Kept extends DesktopSettings {
  /** The page's theme, for the first paint of the next window. */
  readonly theme: PagePreferences['theme']
  /** IDs of the projects that the tray paused and would resume. */
  readonly paused: readonly string[]
}

export interface DesktopSettingsFile {
  get(): Kept
  change(change: Partial<Kept>): void
}

const shape = z.object({
  whenClosed: z.enum(['ask', 'tray', 'quit']).catch('ask'),
  whenQuit: z.enum(['ask', 'end']).catch('ask'),
  updates: z.enum(['stable', 'beta', 'off']).catch('stable'),
  theme: z.enum(['system', 'light', 'dark']).catch('system'),
  paused: z.array(z.string()).catch([]),
})

/** Reads `file` once and writes it at every change. Missing or invalid fields get their defaults. */
export function openDesktopSettings(file: string): DesktopSettingsFile {
  const stored = shape.safeParse(parseJson(readIfThere(file)))
  let now: Kept = stored.success ? stored.data : shape.parse({})
  return {
    get: () => now,
    change: (change) => {
      now = { ...now, ...change }
      writeFileSync(file, JSON.stringify(now, null, 2), { mode: 0o600 })
    },
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error) return '{}'
    throw error
  }
}
