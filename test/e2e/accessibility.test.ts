import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../helpers/browser.ts'
import { makeDemo, type Demo } from '../screenshots/demo/make-demo.ts'
import { startWorld, type World } from '../screenshots/demo/world.ts'
import { leavesNothing, openScreen, showScreen } from '../screenshots/open-screen.ts'
import { screens, type Screen } from '../screenshots/screens.ts'
import { violations } from './harness/axe.ts'
import { sweep } from '../helpers/sweep.ts'

/** Screens with another layout in a narrow window. */
const narrowToo = /^(01-|01d|02-|02c|03b|04-|06-|07-|08-)/

// The page's own policy forbids foreign scripts, and the checker is one.
const options = { viewport: { width: 1440, height: 900 }, bypassCSP: true } as const
/** Pages are checked once nothing is loading. */
const rest = { quiet: 100, most: 2_000 }

// Two at a time: this is the longest file, and a core is free when the others are done.
describe.concurrent('has no axe violations in either theme', () => {
  let world: World
  let demo: Demo
  let browser: Browser
  /** Steps that may show another screen, because opening one takes longer than its content. */
  const pages: Page[] = []

  beforeAll(async () => {
    world = await startWorld()
    demo = await makeDemo(world)
    browser = await launchChromium()
  }, 400_000)
  afterAll(async () => {
    await browser.close()
    await demo[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })

  const show = async (screen: Screen): Promise<Page> => {
    const used = leavesNothing(screen) ? pages.pop() : undefined
    if (used === undefined) return (await openScreen(browser, { world, demo }, screen, options, rest)).page
    await used.emulateMedia({ colorScheme: 'light' })
    await used.setViewportSize(options.viewport)
    await used.mouse.move(0, 0)
    await showScreen(used, { world, demo }, screen, rest)
    return used
  }

  test.each(sweep(screens).map((screen) => ({ screen, name: screen.name })))(
    'on the screen $name',
    async ({ screen, name }) => {
      const page = await show(screen)
      expect(await violations(page), 'light').toEqual([])
      await page.emulateMedia({ colorScheme: 'dark' })
      const narrow = narrowToo.test(name)
      if (narrow) await page.setViewportSize({ width: 1024, height: 700 })
      // Where only colours differ nothing else can.
      expect(await violations(page, narrow ? undefined : ['color-contrast']), 'dark').toEqual([])
      if (leavesNothing(screen)) pages.push(page)
      else await page.context().close()
    },
  )
})
