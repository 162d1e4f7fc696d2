import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { launchChromium } from '../helpers/browser.ts'
import { makeDemo, type Demo } from '../screenshots/demo/make-demo.ts'
import { startWorld, type World } from '../screenshots/demo/world.ts'
import { openScreen } from '../screenshots/open-screen.ts'
import { screens } from '../screenshots/screens.ts'
import { violations } from './harness/axe.ts'

/** Those that are arranged otherwise in a narrow window. */
const narrowToo = /^(01-|01d|02-|02c|03b|04-|06-|07-|08-)/

/** Nobody looks at it: once nothing is being loaded it may be checked. */
const rest = { quiet: 100, most: 2_000 }

// Two at a time: this is the longest file, and when the others are through there is a core to spare.
describe.concurrent('axe finds nothing in both themes', () => {
  let world: World
  let demo: Demo
  let browser: Browser

  beforeAll(async () => {
    world = await startWorld()
    demo = await makeDemo(world)
    browser = await launchChromium()
  }, 180_000)
  afterAll(async () => {
    await browser.close()
    await demo[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })

  test.each(screens.map((screen) => ({ screen, name: screen.name })))(
    'on the screen $name',
    async ({ screen, name }) => {
      // The page's own policy lets no foreign script in; the checker is one.
      const options = { viewport: { width: 1440, height: 900 }, bypassCSP: true } as const
      await using open = await openScreen(browser, { world, demo }, screen, options, rest)
      expect(await violations(open.page), 'light').toEqual([])
      await open.page.emulateMedia({ colorScheme: 'dark' })
      expect(await violations(open.page, ['color-contrast']), 'dark').toEqual([])
      if (!narrowToo.test(name)) return
      await open.page.setViewportSize({ width: 1024, height: 700 })
      expect(await violations(open.page), 'narrow, dark').toEqual([])
    },
  )
})
