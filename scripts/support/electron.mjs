import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { capture } from './child.mjs'
import { root, say, seconds, tools } from './project.mjs'

const home = join(root, 'node_modules', 'electron')
const failedNote = join(tools, 'electron-not-fetched')
const tryAgainMs = 24 * 60 * 60_000
const fetchMs = 10 * 60_000

/** The Electron program; fetches it when it is missing, at most one failed try a day. Null where it cannot be had. */
export async function ensureElectron(node) {
  if (electronProgram() === null && !failedLately()) await fetchElectron(node)
  return electronProgram()
}

function electronProgram() {
  const pathFile = join(home, 'path.txt')
  if (!existsSync(pathFile)) return null
  const program = join(home, 'dist', readFileSync(pathFile, 'utf8').trim())
  return existsSync(program) ? program : null
}

async function fetchElectron(node) {
  const since = performance.now()
  if (await isReachable()) {
    say('fetching Electron (once, about 120 MB) …')
    const { code } = await capture(node, [join(home, 'install.js')], { cwd: root, timeout: fetchMs })
    if (code === 0 && electronProgram() !== null) {
      rmSync(failedNote, { force: true })
      return say(`Electron is here (${seconds(since)})`)
    }
  }
  writeFileSync(failedNote, '')
}

/** The download itself would wait for minutes behind a firewall that answers nothing. */
async function isReachable() {
  const elsewhere = /^(electron_mirror|npm_config_electron_mirror|https?_proxy|electron_get_use_proxy)$/i
  if (Object.keys(process.env).some((name) => elsewhere.test(name))) return true
  try {
    await fetch('https://github.com/electron/electron', { method: 'HEAD', signal: AbortSignal.timeout(4_000) })
    return true
  } catch (error) {
    if (error.name === 'TypeError' || error.name === 'TimeoutError') return false
    throw error
  }
}

function failedLately() {
  return existsSync(failedNote) && Date.now() - statSync(failedNote).mtimeMs < tryAgainMs
}
