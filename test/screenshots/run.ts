import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../helpers/browser.ts'
import { projectRoot } from '../helpers/project-root.ts'
import { makeDemo, type Demo } from './demo/make-demo.ts'
import { startWorld, type World } from './demo/world.ts'
import { screens, type Screen } from './screens.ts'

/**
 * `npm run screenshots -- [--only NAME]… [--theme light|dark] [--width 1440|1024] [--out FOLDER]`: one PNG of every
 * screen in both themes and at two widths, of a service with a day's work in it. Ends with 1 where one is missing.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    theme: { type: 'string', multiple: true, default: ['light', 'dark'] },
    width: { type: 'string', multiple: true, default: ['1440', '1024'] },
    out: { type: 'string', default: join(projectRoot, 'screenshots') },
  },
})

interface Look {
  readonly theme: 'light' | 'dark'
  readonly width: number
}

process.exitCode = await main()

async function main(): Promise<number> {
  const folder = resolve(values.out)
  await mkdir(folder, { recursive: true })
  const wanted = screens.filter(({ name }) => values.only.length === 0 || values.only.some((one) => name.includes(one)))
  const looks = values.width.flatMap((width) =>
    values.theme.map((theme): Look => ({ theme: theme === 'dark' ? 'dark' : 'light', width: Number(width) })),
  )
  await using world = await startWorld()
  console.log('making the demo …')
  await using demo = await makeDemo(world)
  await using browser = await launchChromium()
  let missing = 0
  for (const look of looks) {
    for (const screen of wanted) {
      const file = join(folder, `${screen.name}-${look.theme}-${look.width}.png`)
      try {
        await take(browser, world, demo, screen, look, file)
        console.log(file)
      } catch (error) {
        missing += 1
        console.error(`${file} is missing: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
  }
  return missing === 0 ? 0 : 1
}

async function take(browser: Browser, world: World, demo: Demo, screen: Screen, look: Look, path: string) {
  const context = await browser.newContext({
    viewport: { width: look.width, height: look.width > 1_200 ? 900 : 700 },
    colorScheme: look.theme,
    reducedMotion: 'reduce',
  })
  try {
    const page = await context.newPage()
    page.setDefaultTimeout(20_000)
    if (!screen.asStranger) await signIn(page, world.token)
    await page.addInitScript({ content: shutColumns([`${demo.projectId}/Backlog`]) })
    await screen.meets?.(page)
    await page.goto(`${world.service.url}/#${screen.at(demo)}`)
    await page.locator('#app > *').first().waitFor()
    if (!screen.meets) await settled(page)
    await screen.act?.(page)
    if (!screen.meets) await settled(page)
    await page.screenshot({ path, animations: 'disabled', caret: 'hide' })
  } finally {
    await context.close()
  }
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
async function settled(page: Page): Promise<void> {
  await page.evaluate(`document.fonts.ready`)
  await page.evaluate(`new Promise((done) => {
    let timer
    const quiet = () => {
      clearTimeout(timer)
      timer = setTimeout(() => (document.querySelector('[aria-busy="true"]') ? quiet() : end()), 400)
    }
    const seen = new MutationObserver(quiet)
    const end = () => (seen.disconnect(), clearTimeout(atLast), done())
    const atLast = setTimeout(end, 6000)
    seen.observe(document.body, { subtree: true, childList: true, attributes: true })
    quiet()
  })`)
}
