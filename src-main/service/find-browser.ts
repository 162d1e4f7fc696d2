import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const onPath = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'microsoft-edge',
  'brave-browser',
]

const installed: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
    '/Applications/Brave Browser.app/Contents/MacOS/Brave Browser',
  ],
  win32: [
    'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
    'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
    'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
  ],
}

type Environment = Readonly<Record<string, string | undefined>>

/** A Chromium of this machine: `COPSE_CHROMIUM` if it is set, else from PATH and the usual places; null if none. */
export function findBrowser(env: Environment, platform: NodeJS.Platform): string | null {
  const chosen = env['COPSE_CHROMIUM']
  if (chosen) return isProgram(chosen) ? chosen : null
  const folders = (env['PATH'] ?? '').split(delimiter).filter(Boolean)
  const candidates = onPath.flatMap((name) => folders.map((folder) => join(folder, name)))
  return [...candidates, ...(installed[platform] ?? [])].find(isProgram) ?? null
}

/** Whether a window can be shown at all. */
export function hasDisplay(env: Environment, platform: NodeJS.Platform): boolean {
  if (platform === 'darwin' || platform === 'win32') return true
  return Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY'])
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false
    throw error
  }
}
