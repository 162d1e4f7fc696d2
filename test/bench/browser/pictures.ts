import type { Browser } from 'playwright-core'
import { windowSize } from './board-page.ts'

/** A part of the window, in its pixels. */
export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** More than what is empty around a comment, and less than three lines. */
const blankPx = 52
/** By how much the pixels of a row without text differ, of 255: what JPEG makes of one colour. */
const noise = 12

/**
 * Counts the pictures of a window in which a band of the box, from its left to its right, shows nothing: lines that were
 * not drawn before they were scrolled into sight. `pictures` are JPEGs in base64, of any size.
 */
export async function countBlank(browser: Browser, pictures: readonly string[], box: Box): Promise<number> {
  const page = await browser.newPage()
  try {
    let blank = 0
    for (const picture of pictures) {
      const band = await page.evaluate(longestBand, { picture, box, windowWidth: windowSize.width, noise })
      if (band > blankPx) blank++
    }
    return blank
  } finally {
    await page.close()
  }
}

interface Look {
  readonly picture: string
  readonly box: Box
  readonly windowWidth: number
  readonly noise: number
}

/** Runs in a page: how high the highest band is that shows one colour, in pixels of the window. */
async function longestBand({ picture, box, windowWidth, noise }: Look): Promise<number> {
  const image = await createImageBitmap(await (await fetch(`data:image/jpeg;base64,${picture}`)).blob())
  const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
  if (!context) throw new Error('There is no canvas.')
  context.drawImage(image, 0, 0)
  const scale = image.width / windowWidth
  const [x, y] = [Math.round(box.x * scale), Math.round(box.y * scale)]
  const [width, height] = [Math.round(box.width * scale), Math.round(box.height * scale)]
  const { data } = context.getImageData(x, y, width, height)
  let longest = 0
  let run = 0
  for (let row = 0; row < height; row++) {
    let [darkest, lightest] = [255, 0]
    for (let at = row * width * 4; at < (row + 1) * width * 4; at += 4) {
      const grey = ((data[at] ?? 0) + (data[at + 1] ?? 0) + (data[at + 2] ?? 0)) / 3
      darkest = Math.min(darkest, grey)
      lightest = Math.max(lightest, grey)
    }
    run = lightest - darkest < noise ? run + 1 : 0
    longest = Math.max(longest, run)
  }
  return longest / scale
}
