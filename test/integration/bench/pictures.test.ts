import { expect, test } from 'vitest'
import { openBrowser, openPage } from '../../bench/browser/board-page.ts'
import { countBlank } from '../../bench/browser/pictures.ts'

/** Lines of 20 px as in a diff, without those of the numbers. */
const linesWithout = (...missing: number[]) =>
  Array.from({ length: 45 }, (_, nth) => `<div>${missing.includes(nth) ? '&nbsp;' : `export const v${nth} = 1`}</div>`)

test('a picture in which three lines in a row are missing is counted, and none other', async () => {
  await using opened = new AsyncDisposableStack()
  const browser = opened.adopt(await openBrowser(), (one) => one.close())
  const { page } = opened.use(await openPage(browser))
  const pictures: string[] = []
  for (const lines of [linesWithout(), linesWithout(20, 30), linesWithout(20, 21, 22), linesWithout(42, 43, 44)]) {
    await page.setContent(`<body style="margin: 0; font: 12px/20px monospace">${lines.join('')}`)
    pictures.push((await page.screenshot({ type: 'jpeg', quality: 60 })).toString('base64'))
  }
  const box = { x: 0, y: 0, width: 200, height: 900 }
  expect(await countBlank(browser, pictures, box)).toBe(2)
  expect(await countBlank(browser, pictures.slice(0, 2), box)).toBe(0)
})
