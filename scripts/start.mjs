import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureBuilt } from './build.mjs'
import { ensureNode } from './node.mjs'
import { ensureDependencies } from './setup.mjs'
import { runAs, withPath } from './support/child.mjs'
import { ensureElectron } from './support/electron.mjs'
import { failWith, root, say } from './support/project.mjs'

const usage = `usage: npm start [-- OPTIONS]
  --headless     no Electron: a browser window of its own, or a link
  --no-open      no window at all: print a link that signs in
  --data-dir DIR, --port N   as for svc serve (without Electron)`

// npm start: sets up what is missing, then opens the app.
try {
  const options = readOptions()
  const bin = await ensureNode()
  await ensureDependencies(bin)
  await ensureBuilt(bin)
  const node = join(bin, existsSync(join(bin, 'node.exe')) ? 'node.exe' : 'node')
  const code = options.headless || options['no-open'] ? null : await runElectron(node, bin)
  process.exit(code ?? (await runHeadless(node, bin, options)))
} catch (error) {
  failWith(error)
}

/** The exit code, or null where Electron cannot be had or cannot run here. */
async function runElectron(node, bin) {
  if (process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) {
    say('there is no display here, so Copse runs as a local web app')
    return null
  }
  const electron = await ensureElectron(node)
  if (electron === null) {
    say('Electron’s program cannot be had here, so Copse opens in a browser instead')
    return null
  }
  // Chromium refuses its sandbox to root.
  const flags = process.platform === 'linux' && process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const code = await runAs(electron, [root, ...flags], { env: withPath([bin]) })
  // Up to 125 is the app's own word; beyond are signals and libraries that are missing.
  if (code <= 125 || code === 130 || code === 143) return code
  say(`Electron ended at once (${code}), so Copse opens in a browser instead`)
  return null
}

function runHeadless(node, bin, options) {
  const args = options['no-open'] ? [] : ['--open']
  for (const name of ['data-dir', 'port']) if (options[name] !== undefined) args.push(`--${name}`, options[name])
  return runAs(node, [join(root, 'dist', 'main', 'headless.js'), ...args], { env: withPath([bin]) })
}

function readOptions() {
  try {
    const flag = { type: 'boolean', default: false }
    const value = { type: 'string' }
    return parseArgs({ options: { headless: flag, 'no-open': flag, 'data-dir': value, port: value } }).values
  } catch (error) {
    console.error(`copse: ${error.message}\n${usage}`)
    process.exit(2)
  }
}
