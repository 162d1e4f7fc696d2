import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { Demo } from './demo/make-demo.ts'
import type { World } from './demo/world.ts'
import type { Screen } from './screens.ts'

/** A page that shows a screen and has come to rest. */
export interface OpenScreen extends AsyncDisposable {
  readonly page: Page
}

interface Made {
  readonly world: World
  readonly demo: Demo
}

interface Rest {
  readonly quiet: number
  readonly most: number
}

/** Opens a screen of the demo in a context of its own. */
export async function openScreen(
  browser: Browser,
  made: Made,
  screen: Screen,
  options: BrowserContextOptions,
  /** How long nothing may change, and how long that is waited for at most. */
  rest: Rest = { quiet: 400, most: 6_000 },
): Promise<OpenScreen> {
  await using open = new AsyncDisposableStack()
  const context = open.use(await browser.newContext({ reducedMotion: 'reduce', ...options }))
  const page = await context.newPage()
  page.setDefaultTimeout(80_000)
  await page.addInitScript({ content: asMet(made, screen.asStranger ?? false) })
  await showScreen(page, made, screen, rest)
  const owned = open.move()
  return { page, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Whether a page that has shown it may show another one afterwards. */
export const leavesNothing = (screen: Screen): boolean =>
  !screen.meets && !screen.asStranger && screen.holdsPointer !== true

/** Shows a screen in a page that has shown another one, and begins anew for it. */
export async function showScreen(page: Page, { world, demo }: Made, screen: Screen, rest: Rest): Promise<void> {
  await screen.meets?.(page)
  // With another address before the `#` the page is loaded, not led there.
  await page.goto(`${world.service.url}/?${screen.name}#${screen.at(demo)}`)
  await page.locator('#app > *').first().waitFor()
  if (!screen.meets) await settled(page, rest)
  await screen.act?.(page)
  if (!screen.meets) await settled(page, rest)
}

/** Every page begins as it is for the service's own person, whom `npm start` lets in, and who has shut a column. */
function asMet({ world, demo }: Made, isStranger: boolean): string {
  const token = JSON.stringify({ token: world.token, endsAt: Date.now() + 12 * 60 * 60 * 1_000 })
  const appearance = JSON.stringify({ collapsed: [`${demo.projectId}/Backlog`] })
  return `
    localStorage.clear()
    sessionStorage.clear()
    localStorage.setItem('copse.appearance', ${JSON.stringify(appearance)})
    ${isStranger ? '' : `sessionStorage.setItem('copse.local-token', ${JSON.stringify(token)})`}`
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
