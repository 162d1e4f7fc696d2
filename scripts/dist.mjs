import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { ensureBuilt } from './build.mjs'
import { ensureNode } from './node.mjs'
import { writeLicences } from './package-licences.mjs'
import { ensureDependencies } from './setup.mjs'
import { runAs, withPath } from './support/child.mjs'
import { ensureElectron } from './support/electron.mjs'
import { SetupError, failWith, root, say } from './support/project.mjs'

const require = createRequire(import.meta.url)
const platforms = {
  '--linux': 'linux',
  '-l': 'linux',
  '--mac': 'darwin',
  '-m': 'darwin',
  '--win': 'win32',
  '-w': 'win32',
}

// npm run dist: builds the installers of this platform into release/. npm run dist -- ARGS: as electron-builder takes them.
try {
  const args = process.argv.slice(2)
  const bin = await ensureNode()
  await ensureDependencies(bin)
  const node = join(bin, existsSync(join(bin, 'node.exe')) ? 'node.exe' : 'node')
  for (const [platform, arch] of targets(args)) ensureTerminal(platform, arch)
  if ((await ensureElectron(node)) === null) {
    throw new SetupError(
      'nothing was packed: Electron’s program is missing and cannot be fetched from github.com; set ELECTRON_MIRROR or run this where it can.',
    )
  }
  await ensureBuilt(bin)
  say(`${writeLicences().length} licences are in dist/licences.txt`)
  const cli = join(root, 'node_modules', 'electron-builder', 'cli.js')
  process.exit(await runAs(node, [cli, '--publish', 'never', ...args], { cwd: root, env: withPath([bin]) }))
} catch (error) {
  failWith(error)
}

/** What electron-builder.yml and the arguments ask for. */
function targets(args) {
  const named = args.flatMap((arg) => platforms[arg] ?? [])
  const archs = args.flatMap((arg) => (/^--(x64|arm64)$/.test(arg) ? arg.slice(2) : []))
  return (named.length > 0 ? named : [process.platform]).flatMap((platform) => {
    const wanted = archs.length > 0 ? archs : platform === 'darwin' ? ['arm64', 'x64'] : [process.arch]
    return wanted.map((arch) => [platform, arch])
  })
}

/** The one native module that comes as a package for each platform, of which npm installs this machine's. */
function ensureTerminal(platform, arch) {
  const name = `@lydell/node-pty-${platform}-${arch}`
  if (existsSync(join(root, 'node_modules', name))) return
  const { version } = require('node-pty/package.json')
  throw new SetupError(`${name} is missing: npm install --no-save --force ${name}@${version}`)
}
