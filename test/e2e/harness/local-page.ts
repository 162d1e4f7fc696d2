import type { Locator, Page } from 'playwright-core'
import { createClient, type Client } from '../../../src-shared/client/create-client.ts'
import { createHttpTransport } from '../../../src-shared/client/http-transport.ts'
import type { BuiltService } from './built-service.ts'
import { keepLastWords } from './last-words.ts'

/** A page signed in as the local operator, and a client that acts as the same. */
export interface LocalPage {
  readonly page: Page
  readonly client: Client
  /** The open task. */
  readonly panel: Locator
  openProject(name: string): Promise<void>
  /** `Files`: the changes, by file. */
  openTask(title: string, tab: string): Promise<void>
}

/** Opens the service's link in the page. Every error of the page fails the test. */
export async function openLocally(page: Page, service: BuiltService): Promise<LocalPage> {
  page.setDefaultTimeout(80_000)
  keepLastWords(page)
  page.on('pageerror', (error) => {
    throw error
  })
  await page.goto(service.url)
  await page.locator('#app > *').first().waitFor()
  await page.waitForFunction('sessionStorage.length > 0')
  const getToken = async () => {
    const kept = await page.evaluate<string>("Object.values(sessionStorage).join(' ')")
    return /[\w.-]{30,}/.exec(kept)?.[0] ?? ''
  }
  const panel = page.locator('[data-task-panel]')
  return {
    page,
    client: createClient(createHttpTransport({ baseUrl: new URL(service.url).origin, getToken })),
    panel,
    // A retry of a test adds its project again: the newest is meant.
    openProject: (name) => page.getByRole('navigation', { name: 'Main' }).getByText(name).last().click(),
    openTask: async (title, tab) => {
      await page.locator('[data-card]').filter({ hasText: title }).click()
      await panel.getByRole('tab', { name: new RegExp(`^${tab === 'Files' ? 'Changes' : tab}`) }).click()
      const files = panel.getByRole('group', { name: 'Read as' }).getByRole('button', { name: 'Files' })
      if (tab === 'Files') await files.click()
    },
  }
}
