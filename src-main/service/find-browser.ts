import { findOnPath } from '../platform/process/find-on-path.ts'

const names = [
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

/**
 * Returns a Chromium of this machine: `COPSE_CHROMIUM` if it is set, else from PATH and the usual paths; null if
 * none.
 */
export function findBrowser(env: Environment, platform: NodeJS.Platform): string | null {
  const chosen = env['COPSE_CHROMIUM']
  const candidates = chosen ? [chosen] : [...names, ...(installed[platform] ?? [])]
  return candidates.map((program) => findOnPath(program, env)).find((path) => path !== null) ?? null
}

/** Returns whether a window can be shown at all. */
export function hasDisplay(env: Environment, platform: NodeJS.Platform): boolean {
  if (platform === 'darwin' || platform === 'win32') return true
  return Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY'])
}
