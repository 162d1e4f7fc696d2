import { capture, withPath } from './child.mjs'
import { SetupError } from './project.mjs'

/** What `npm start` or `npx` set for themselves and an npm below them must not take for its own. */
const notInherited =
  /^npm_config_(global|location|prefix|local_prefix|workspaces?|include_workspace_root|omit|include|only|production|dry_run|package_lock_only|json|yes|call|package|loglevel|noproxy)$/i

/** npm's own patience is over a minute per package, which nobody at a terminal takes for "no network". */
const patience = ['--fetch-retries=2', '--fetch-retry-mintimeout=500', '--fetch-retry-maxtimeout=3000']

/** Runs npm quietly with `bin` first on PATH. Throws a `SetupError` that says `what` did not work. */
export async function npm(args, { cwd, bin = [], what }) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !notInherited.test(name)))
  const windows = process.platform === 'win32'
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error']
  const { code, output } = await capture(windows ? 'npm.cmd' : 'npm', [...args, ...quiet, ...patience], {
    cwd,
    env: withPath(bin, env),
    shell: windows,
  })
  if (code === 0) return
  const network = /\b(ENOTFOUND|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH)\b/.exec(output)
  if (network !== null) {
    const advice = 'Connect to the network (or set npm’s registry or proxy) and try again.'
    throw new SetupError(`${what} failed: npm could not reach its registry (${network[0]}). ${advice}`)
  }
  throw new SetupError(`${what} failed. npm says:\n${output.trim().split('\n').slice(-12).join('\n')}`)
}
