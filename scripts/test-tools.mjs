import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { capture } from './support/child.mjs'
import { root, say } from './support/project.mjs'

/** The programs that contained runs need on Linux, with Debian's packages. */
const contained = { bwrap: 'bubblewrap', socat: 'socat', curl: 'curl' }
/** What `quick-fork.c` is compiled with. */
const compiler = { cc: 'gcc libc6-dev' }
/** What runs the tests of containers, where there is no Docker. */
const containers = { podman: 'podman', crun: 'crun' }
/** What the tests of pushes over SSH push to. */
const ssh = { sshd: 'openssh-server' }
/** What a test of large files needs; the others bring what they need. */
const largeFiles = { 'git-lfs': 'git-lfs' }

/**
 * Installs what the tests need besides Node and a browser, where this may be done without asking. Returns what is left
 * out and how to get it, in one sentence; null if nothing is.
 */
export async function ensureTestTools(env = process.env) {
  const tools = [
    await ensureContainmentTools(env),
    await ensureSshServer(env),
    await ensureContainerEngine(env),
    await ensureLfs(env),
  ]
  const left = tools.filter((one) => one !== null)
  return left.length > 0 ? left.join('. Also ') : null
}

async function ensureContainmentTools(env) {
  if (process.platform !== 'linux') return null
  const wanted = missing(contained, env)
  if (wanted.length > 0) await install(wanted, env)
  const left = missing(contained, env)
  if (left.length > 0) {
    return `the tests of contained runs (missing: ${left.join(', ')}). To run them: sudo apt-get install ${left.join(' ')}`
  }
  const { code, output } = await capture('bwrap', ['--unshare-user', '--ro-bind', '/', '/', 'true'], { env })
  if (code === 0) return null
  const reason = output.trim().split('\n').at(-1) || `exit code ${code}`
  return `the tests of contained runs (bubblewrap makes no sandbox here: ${reason}). To run them: allow user namespaces`
}

/** Its package starts a server that listens, which only a machine for tests may get without being asked. */
async function ensureSshServer(env) {
  if (process.platform === 'win32') return null
  if (missing(ssh, env).length > 0 && env.CI) await install(missing(ssh, env), env)
  const [left] = missing(ssh, env)
  return left === undefined
    ? null
    : `the tests of pushes over SSH (missing: ${left}). To run them: sudo apt-get install ${left}`
}

/** Its package sets its filter for all of the machine, which only a machine for tests may get without being asked. */
async function ensureLfs(env) {
  if (missing(largeFiles, env).length > 0 && env.CI) await install(missing(largeFiles, env), env)
  const [left] = missing(largeFiles, env)
  return left === undefined
    ? null
    : `a test of Git LFS on the service’s machine (missing: ${left}). To run it: sudo apt-get install ${left}`
}

/** A container engine may ask for services of the system, which only a machine for tests may get without being asked. */
async function ensureContainerEngine(env) {
  if (process.platform !== 'linux') return null
  const docker = missing({ docker: 'docker' }, env).length === 0 ? await capture('docker', ['info'], { env }) : null
  if (docker?.code === 0) return null
  if (missing(containers, env).length > 0 && env.CI) await install(missing(containers, env), env)
  const left = missing(containers, env)
  return left.length === 0
    ? null
    : `the tests of containers (missing: ${left.join(', ')}). To run them: sudo apt-get install ${left.join(' ')}`
}

/**
 * The library with which Node starts programs quickly (`quick-fork.c`), for the tests' workers and services to preload;
 * null where there is no compiler for it. Tests pass without it, on some machines three times as slowly. `bin`: the folder
 * of the Node that they use, because another one may not bear it: Node 20 crashes.
 */
export async function quickFork(bin, env = process.env) {
  if (process.platform !== 'linux' || process.arch !== 'x64') return null
  const source = join(root, 'scripts', 'support', 'quick-fork.c')
  const folder = join(root, 'node_modules', '.cache')
  const version = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 12)
  const library = join(folder, `quick-fork-${version}.so`)
  if (existsSync(library)) return library
  mkdirSync(folder, { recursive: true })
  const wanted = missing(compiler, env)
  if (wanted.length > 0 && env.CI) await install(wanted, env)
  const made = `${library}.${process.pid}`
  const compiled = await capture('cc', ['-O1', '-shared', '-fPIC', '-o', made, source], { env })
  if (compiled.code !== 0) return null
  const startOne = ['-e', 'require("node:child_process").execFileSync(process.execPath, ["--version"])']
  const tried = await capture(join(bin, 'node'), startOne, { env: { ...env, LD_PRELOAD: made } })
  if (tried.code !== 0) return null
  renameSync(made, library)
  return library
}

function missing(packages, env) {
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean)
  // Debian keeps servers out of the path of users.
  const isThere = (name) =>
    [...folders, ...(name === 'sshd' ? ['/usr/sbin'] : [])].some((at) => existsSync(join(at, name)))
  return Object.entries(packages).flatMap(([name, of]) => (isThere(name) ? [] : of.split(' ')))
}

async function install(wanted, env) {
  if (!existsSync('/usr/bin/apt-get')) return
  const prefix = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  say(`installing ${wanted.join(', ')} for the tests with apt-get (once) …`)
  for (const args of [
    ['update', '-q'],
    ['install', '-y', '-q', '--no-install-recommends', ...wanted],
  ]) {
    const [program, ...rest] = [...prefix, 'apt-get', ...args]
    const { code, output } = await capture(program, rest, { env: { ...env, DEBIAN_FRONTEND: 'noninteractive' } })
    if (code === 0) continue
    say(`apt-get ${args[0]} failed: ${output.trim().split('\n').at(-1) || `exit code ${code}`}`)
    return
  }
}
