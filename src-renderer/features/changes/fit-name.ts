import { splitName } from './file-tree.ts'

let context: OffscreenCanvasRenderingContext2D | null = null

/** Returns the width of a text in pixels. */
function measure(text: string, font: string): number {
  context ??= new OffscreenCanvas(1, 1).getContext('2d')
  if (context === null) return 0
  context.font = font
  return context.measureText(text).width
}

/** Returns the name if it fits into `width` pixels, else its longest beginning that does, with "…" and its ending. */
export function fitName(
  name: string,
  width: number,
  font: string,
  widthOf: (text: string, font: string) => number = measure,
): string {
  if (widthOf(name, font) <= width) return name
  const [stem, ending] = splitName(name)
  const letters = [...new Intl.Segmenter().segment(stem)].map(({ segment }) => segment)
  let low = 1
  let high = letters.length
  const cut = (count: number) => `${letters.slice(0, count).join('')}…${ending}`
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (widthOf(cut(middle), font) <= width) low = middle
    else high = middle - 1
  }
  return cut(low)
}
