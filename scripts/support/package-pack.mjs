import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { writeLicences } from '../package-licences.mjs'
import { SetupError, root } from './project.mjs'

const require = createRequire(import.meta.url)

/**
 * Lets electron-builder pack the app into `folder` for Linux with this machine's architecture, where an empty file stands for
 * Electron's program, so that nothing has to be fetched. Answers the archive, its content unpacked in `app`, and the
 * entry by which desktops know the app.
 */
export async function packWithoutElectron(folder) {
  if (process.platform !== 'linux') throw new SetupError('the package is looked at on Linux: CI does that')
  const { Arch, Platform, build } = require('electron-builder')
  const { LinuxTargetHelper } = require('app-builder-lib/out/targets/LinuxTargetHelper')
  const asar = require('@electron/asar')
  const electronDist = join(folder, 'electron')
  await mkdir(join(electronDist, 'resources'), { recursive: true })
  await mkdir(join(electronDist, 'locales'))
  await writeFile(join(electronDist, 'electron'), '')
  await chmod(join(electronDist, 'electron'), 0o755)
  const licences = writeLicences()
  const output = join(folder, 'release')
  let entry = ''
  const afterPack = async ({ packager }) => {
    const helper = new LinuxTargetHelper(packager)
    entry = await helper.computeDesktopEntry(packager.platformSpecificBuildOptions)
  }
  const arch = process.arch === 'arm64' ? Arch.arm64 : Arch.x64
  await quietly(() =>
    build({
      projectDir: root,
      targets: Platform.LINUX.createTarget('dir', arch),
      publish: 'never',
      // An empty file has no fuses to set.
      config: { afterPack, electronDist, electronFuses: null, directories: { output } },
    }),
  )
  const unpacked = join(output, arch === Arch.arm64 ? 'linux-arm64-unpacked' : 'linux-unpacked')
  const archive = join(unpacked, 'resources', 'app.asar')
  const app = join(folder, 'app')
  asar.extractAll(archive, app)
  return { archive, app, entry, resources: join(unpacked, 'resources'), licences }
}

/** electron-builder tells its steps on stdout; they matter when it fails, and then its error says them. */
async function quietly(work) {
  const write = process.stdout.write
  process.stdout.write = () => true
  try {
    return await work()
  } finally {
    process.stdout.write = write
  }
}
