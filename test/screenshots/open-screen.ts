import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { Demo } from './demo/make-demo.ts'
import type { World } from './demo/world.ts'
import type { Screen } from './screens.ts'

/** A page that shows a screen and has come to rest. */
export interface OpenScreen extends AsyncDisposable {
  readonly page: Page
}

interface Rest {
  readonly quiet: number
  readonly most: number
}

/** Opens a screen of the demo in a context of its own. */
export async function openScreen(
  browser: Browser,
  { world, demo }: { readonly world: World; readonly demo: Demo },
  screen: Screen,
  options: BrowserContextOptions,
  /** How long nothing may change, and how long that is waited for at most. */
  rest: Rest = { quiet: 400, most: 6_000 },
): Promise<OpenScreen> {
  await using open = new AsyncDisposableStack()
  const context = open.use(await browser.newContext({ reducedMotion: 'reduce', ...options }))
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  if (!screen.asStranger) await signIn(page, world.token)
  await page.addInitScript({ content: shutColumns([`${demo.projectId}/Backlog`]) })
  await screen.meets?.(page)
  await page.goto(`${world.service.url}/#${screen.at(demo)}`)
  await page.locator('#app > *').first().waitFor()
  if (!screen.meets) await settled(page, rest)
  await screen.act?.(page)
  if (!screen.meets) await settled(page, rest)
  const owned = open.move()
  return { page, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** The service's own person, as `npm start` lets them in. */
async function signIn(page: Page, token: string): Promise<void> {
  const kept = JSON.stringify({ token, endsAt: Date.now() + 12 * 60 * 60 * 1_000 })
  await page.addInitScript({ content: `sessionStorage.setItem('copse.local-token', ${JSON.stringify(kept)})` })
}

/** As somebody has it who looks at what is under way. */
function shutColumns(collapsed: readonly string[]): string {
  return `localStorage.setItem('copse.appearance', ${JSON.stringify(JSON.stringify({ collapsed }))})`
}

/** Nothing is being loaded, and nothing has changed for a moment. */
async function settled(page: Page, { quiet, most }: Rest): Promise<void> {
  await page.evaluate(`document.fonts.ready`)
  await page.evaluate(`new Promise((done) => {
    let timer
    const quiet = () => {
      clearTimeout(timer)
      timer = setTimeout(() => (document.querySelector('[aria-busy="true"]') ? quiet() : end()), ${quiet})
    }
    const seen = new MutationObserver(quiet)
    const end = () => (seen.disconnect(), clearTimeout(atLast), done())
    const atLast = setTimeout(end, ${most})
    seen.observe(document.body, { subtree: true, childList: true, attributes: true })
    quiet()
  })`)
}
