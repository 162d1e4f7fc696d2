import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createRequire } from 'node:module'
import { startDesktop } from './electron-standin/start-desktop.ts'

// node package-start.ts FOLDER: starts a packed app that was unpacked there, asks it this and that, and ends it.
const app = process.argv[2] ?? ''

await using desktop = await startDesktop({ entry: join(app, 'dist', 'main', 'electron.js') })
await desktop.page.locator('#app > *').first().waitFor()
const reply = await desktop.page.evaluate<{ ok: boolean }>("window.copse.call('demo.create', {})")
if (!reply.ok) throw new Error(`The packed app makes no project: ${JSON.stringify(reply)}`)
await desktop.page.locator('[data-card]').first().waitFor()

// What it loads only later: a pseudo-terminal, passwords, and the updater, which Electron alone can start.
const require = createRequire(pathToFileURL(join(app, 'package.json')))
for (const name of ['node-pty', 'bcrypt', 'electron-updater/package.json']) require(name)

const code = await desktop.quit()
if (code !== 0 || desktop.log() !== '') throw new Error(`The packed app ended with ${code}: ${desktop.log()}`)
