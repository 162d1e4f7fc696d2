import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, copyFile, mkdir, mkdtemp, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { findOnPath } from '../../src-main/platform/process/find-on-path.ts'
import { present } from './present.ts'

const run = promisify(execFile)

/** A container engine of this machine with an image that has a shell, git and curl. */
export interface TestEngine {
  readonly engine: 'docker' | 'podman'
  readonly image: string
  /** What `PATH` must begin with, so that the engine's client works here; empty if it does as it is. */
  readonly path: string
}

/** What the image is made of: programs of this machine with their libraries. */
const programs = [
  ...['sh', 'bash', 'env', 'cat', 'ls', 'mkdir', 'rm', 'cp', 'mv', 'ln', 'chmod', 'touch', 'stat', 'id', 'date'],
  ...['sleep', 'grep', 'sed', 'tr', 'cut', 'head', 'tail', 'sort', 'wc', 'find', 'readlink', 'ps', 'true', 'false'],
  ...['git', 'curl', 'dd', 'mktemp', 'kill', 'setsid', 'tee', 'stty', 'chown'],
]

/** Builds of dev containers give files to users and groups by their names. */
const accounts = { passwd: 'root:x:0:0:root:/root:/bin/sh\n', group: 'root:x:0:\n' }

let found: Promise<TestEngine | string> | undefined

/** Returns an engine that starts containers here, or why there is none. */
export const findTestEngine = (): Promise<TestEngine | string> => (found ??= look())

async function look(): Promise<TestEngine | string> {
  if (process.platform !== 'linux') return 'containers of this machine run on Linux only'
  const problems: string[] = []
  for (const [engine, path] of [
    ['docker', ''],
    ['podman', ''],
    ['podman', await lenientPodman()],
  ] as const) {
    try {
      if (findOnPath(engine) === null) throw new Error('not installed')
      const client = path === '' ? engine : join(path, engine)
      const image = await ensureImage(client)
      await run(client, ['run', '--rm', '--pull', 'never', image, 'true'])
      return { engine, image, path }
    } catch (error) {
      problems.push(`${engine}: ${String((error as { stderr?: string }).stderr || (error as Error).message).trim()}`)
    }
  }
  return `no container engine works here (${problems.join('; ')})`
}

/** Makes a client of podman for machines that let containers set no limits and see both trees of control groups. */
async function lenientPodman(): Promise<string> {
  const folder = join(tmpdir(), `copse-test-podman-${process.getuid?.() ?? 0}`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const settings = join(folder, 'containers.conf')
  await writeFile(
    settings,
    '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]\ncgroups = "disabled"\nnetns = "host"\npids_limit = 0\n[engine]\nruntime = "crun"\ncgroup_manager = "cgroupfs"\n',
  )
  const script = `#!/bin/sh
export CONTAINERS_CONF=${settings}
exec unshare -m --propagation private sh -c 'umount /sys/fs/cgroup/unified 2>/dev/null; exec ${findOnPath('podman') ?? 'podman'} "$@"' sh "$@"
`
  // Another test file may start the one that is there.
  const made = join(folder, `podman.${process.pid}`)
  await writeFile(made, script)
  await chmod(made, 0o700)
  await run('mv', ['-f', made, join(folder, 'podman')])
  return folder
}

/** Builds the image without a network, unless the engine has it. */
async function ensureImage(client: string): Promise<string> {
  const files = await filesOfImage()
  const states = await Promise.all([...files].map(async ([to, from]) => [to, from, (await stat(from)).mtimeMs]))
  const version = createHash('sha256')
    .update(JSON.stringify([accounts, states]))
    .digest('hex')
    .slice(0, 12)
  const image = `localhost/copse-test/small:${version}`
  const isThere = await run(client, ['image', 'inspect', image]).then(
    () => true,
    () => false,
  )
  if (isThere) return image
  const folder = await mkdtemp(join(tmpdir(), 'copse-image-'))
  try {
    const root = join(folder, 'root')
    for (const name of ['etc', 'tmp', 'proc', 'sys', 'dev', 'run']) await mkdir(join(root, name), { recursive: true })
    await chmod(join(root, 'tmp'), 0o1777)
    await symlink('usr/bin', join(root, 'bin'))
    await writeFile(join(root, 'etc', 'copse-test-image'), image)
    for (const [name, text] of Object.entries(accounts)) await writeFile(join(root, 'etc', name), text)
    for (const [to, from] of files) {
      await mkdir(dirname(join(root, to)), { recursive: true })
      await copyFile(from, join(root, to))
    }
    const archive = join(folder, 'image.tar')
    await run('tar', ['-C', root, '-cf', archive, '.'])
    await run(client, ['import', '--change', 'ENV PATH=/usr/bin', archive, image])
    return image
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Returns the files of the image with where they come from. */
async function filesOfImage(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>()
  for (const name of programs) {
    const path = await realpath(present(findOnPath(name)))
    files.set(join('/usr/bin', name), path)
    const { stdout } = await run('ldd', [path]).catch(() => ({ stdout: '' }))
    for (const [library] of stdout.matchAll(/(?<=^|\s)\/\S+(?= \()/gm)) files.set(library, await realpath(library))
  }
  return files
}
