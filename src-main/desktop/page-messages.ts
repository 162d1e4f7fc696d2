import { z } from 'zod'
import type { DesktopChange, PagePreferences, UpdateStep } from '../../src-shared/contract/desktop.ts'

const change: z.ZodType<DesktopChange> = z
  .strictObject({
    whenClosed: z.enum(['ask', 'tray', 'quit']),
    whenQuit: z.enum(['ask', 'end']),
    updates: z.enum(['stable', 'beta', 'off']),
    autoStart: z.boolean(),
  })
  .partial()
  // zod keeps `undefined` for omitted fields; it must not overwrite saved values.
  .transform((value) => Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)))

const command = z.object({ id: z.string().max(40), label: z.string().max(80), keys: z.string().max(80).nullable() })
const preferences: z.ZodType<PagePreferences> = z.object({
  theme: z.enum(['system', 'light', 'dark']),
  commands: z.array(command).max(200),
})
const step: z.ZodType<UpdateStep> = z.enum(['check', 'download', 'install'])

/** Schemas of the page's messages. They throw for anything else, which only a broken page sends. */
export const pageMessages = {
  change: (value: unknown) => change.parse(value),
  preferences: (value: unknown) => preferences.parse(value),
  step: (value: unknown) => step.parse(value),
}
