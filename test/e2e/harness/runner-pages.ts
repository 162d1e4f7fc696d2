import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { writeLocalEngine } from '../../helpers/local-engine.ts'
import { checkedPage } from './axe.ts'
import { startBuiltService, type BuiltService } from './built-service.ts'
import { cutOff } from './cut-off.ts'

/** Starts a service that finds an engine which starts on this machine what containers would. */
export async function startWithEngine(): Promise<BuiltService & { stopEngine(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'copse-engine-'))
  const engine = await writeLocalEngine(folder)
  const service = await startBuiltService({ as: 'local', env: engine.env })
  return {
    ...service,
    stopEngine: engine.stop,
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const shots = process.env['COPSE_SHOTS']
/** With `COPSE_SHOTS`, takes pictures of what the page shows in both themes, wide and on a phone. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (!shots) return
  for (const width of [1440, 360]) {
    await page.setViewportSize({ width, height: 900 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: join(shots, `${name}-${colorScheme}-${width}.png`) })
    }
  }
  await page.setViewportSize(checkedPage.viewport)
  await page.emulateMedia({ colorScheme: 'light' })
}
/** Expects that nothing is cut off on a phone. */
export async function expectRoomOnPhone(page: Page, what: string): Promise<void> {
  await page.setViewportSize({ width: 360, height: 900 })
  await expect.poll(() => cutOff(page), { message: what, timeout: 5_000 }).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth'), what).toBeLessThanOrEqual(360)
  await page.setViewportSize(checkedPage.viewport)
}
