import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser } from 'playwright-core'
import { launchChromium } from '../helpers/browser.ts'
import { projectRoot } from '../helpers/project-root.ts'
import { makeDemo, type Demo } from './demo/make-demo.ts'
import { startWorld, type World } from './demo/world.ts'
import { openScreen } from './open-screen.ts'
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
        await take(browser, { world, demo }, screen, look, file)
        console.log(file)
      } catch (error) {
        missing += 1
        console.error(`${file} is missing: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
  }
  return missing === 0 ? 0 : 1
}

async function take(browser: Browser, made: { world: World; demo: Demo }, screen: Screen, look: Look, path: string) {
  const viewport = { width: look.width, height: look.width > 1_200 ? 900 : 700 }
  await using open = await openScreen(browser, made, screen, { viewport, colorScheme: look.theme })
  await open.page.screenshot({ path, animations: 'disabled', caret: 'hide' })
}
