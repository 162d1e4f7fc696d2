import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { root } from './support/project.mjs'

// node scripts/make-icons.mjs: draws the app's icons from the mark; what it writes is committed.
const mark = readFileSync(join(root, 'src-renderer', 'public', 'mark.svg'), 'utf8').match(/<rect.*\/>/s)[0]
const packaging = join(root, 'packaging')
const assets = join(root, 'assets')
const browser = await chromium.launch({ executablePath: process.env.COPSE_CHROMIUM || '/usr/bin/chromium' })
const page = await browser.newPage()

mkdirSync(join(packaging, 'icons'), { recursive: true })
mkdirSync(assets, { recursive: true })
const tiles = new Map()
for (const size of [16, 24, 32, 48, 64, 128, 256, 512, 1024]) tiles.set(size, await draw(tile(size), size))
for (const size of [16, 32, 48, 64, 128, 256, 512])
  writeFileSync(join(packaging, 'icons', `${size}x${size}.png`), tiles.get(size))
writeFileSync(join(packaging, 'icon.ico'), ico([16, 24, 32, 48, 64, 256]))
writeFileSync(join(packaging, 'icon.icns'), icns())
writeFileSync(join(assets, 'window.png'), tiles.get(256))
for (const [suffix, scale] of [
  ['', 1],
  ['@2x', 2],
]) {
  // macOS colours a template itself; elsewhere the bar may be dark or light, and this green can be seen on both.
  writeFileSync(join(assets, `trayTemplate${suffix}.png`), await draw(plain('#000'), 16 * scale))
  writeFileSync(join(assets, `tray${suffix}.png`), await draw(plain('#6f9f4e'), 22 * scale))
}
writeFileSync(join(assets, 'badge.png'), await draw(svg('<circle cx="8" cy="8" r="7" fill="#c2410c"/>'), 32))
await browser.close()

async function draw(picture, size) {
  await page.setViewportSize({ width: size, height: size })
  await page.setContent(`<style>*{margin:0}svg{display:block;width:${size}px;height:${size}px}</style>${picture}`)
  return page.screenshot({ omitBackground: true })
}

function svg(content) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${content}</svg>`
}

function plain(colour) {
  return svg(`<g fill="${colour}">${mark}</g>`)
}

/** The mark on a tile, with the margin that desktops expect of large icons; small ones need every pixel. */
function tile(size) {
  const margin = size > 64 ? 1.5 : 0.5
  const side = 16 - 2 * margin
  const scale = (side * 0.66) / 16
  const inset = (16 - 16 * scale) / 2
  return svg(
    `<defs><linearGradient id="g" x2="0" y2="1"><stop stop-color="#2b3a22"/><stop offset="1" stop-color="#1a2215"/></linearGradient></defs>` +
      `<rect x="${margin}" y="${margin}" width="${side}" height="${side}" rx="${side * 0.225}" fill="url(#g)"/>` +
      `<g fill="#a9d67b" transform="translate(${inset} ${inset}) scale(${scale})">${mark}</g>`,
  )
}

/** A folder of PNGs, which Windows takes since Vista. */
function ico(sizes) {
  const head = Buffer.alloc(6 + 16 * sizes.length)
  head.writeUInt16LE(1, 2)
  head.writeUInt16LE(sizes.length, 4)
  let offset = head.length
  sizes.forEach((size, index) => {
    const at = 6 + 16 * index
    const { length } = tiles.get(size)
    head.writeUInt8(size % 256, at)
    head.writeUInt8(size % 256, at + 1)
    head.writeUInt16LE(1, at + 4)
    head.writeUInt16LE(32, at + 6)
    head.writeUInt32LE(length, at + 8)
    head.writeUInt32LE(offset, at + 12)
    offset += length
  })
  return Buffer.concat([head, ...sizes.map((size) => tiles.get(size))])
}

/** PNGs under the names of their sizes; those with `ic11` to `ic14` are for screens of twice the density. */
function icns() {
  const names = [
    ['ic11', 32],
    ['ic12', 64],
    ['ic07', 128],
    ['ic13', 256],
    ['ic08', 256],
    ['ic14', 512],
    ['ic09', 512],
    ['ic10', 1024],
  ]
  const parts = names.map(([name, size]) => chunk(name, tiles.get(size)))
  return chunk('icns', Buffer.concat(parts))
}

function chunk(name, content) {
  const head = Buffer.alloc(8)
  head.write(name, 'latin1')
  head.writeUInt32BE(content.length + 8, 4)
  return Buffer.concat([head, content])
}
