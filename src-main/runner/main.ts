import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runLfsFilter } from '../git/lfs/lfs-filter.ts'
import { jobProtocol, lonelyHours } from '../../src-shared/contract/jobs.ts'
import { linkMark } from '../platform/link/marked-start.ts'
import { DataDirLockedError, lockDataDir } from '../platform/locks/single-instance.ts'
import { createLogger } from '../platform/logging/log.ts'
import { createContainedPrograms, machineStatus } from './contained.ts'
import { onEndSignal } from './end-signal.ts'
import { createJobPorts } from './job-ports.ts'
import { runRunner } from './run-runner.ts'
import { connectTo, createOtherPrograms, ownFolder, programFolders } from './other-programs.ts'
import { serveLinks } from './serve-links.ts'
import { createServiceCalls, ServiceRefusal } from './service-calls.ts'

const usage = 'usage: runner.js link FOLDER | serve FOLDER | end FOLDER'

/** Runs a command of the runner's program; resolves with its exit code. */
export async function runnerMain([command, folder]: readonly string[]): Promise<number> {
  if (folder === undefined) return complain(usage)
  if (command !== 'lfs') await mkdir(folder, { recursive: true, mode: 0o700 })
  switch (command) {
    case 'serve':
      return await serve(folder)
    case 'link':
      return await link(folder)
    case 'end':
      return await end(folder)
    case 'containment':
      process.stdout.write(`${JSON.stringify(machineStatus())}\n`)
      return 0
    case 'lfs':
      await runLfsFilter(folder, process.stdin, process.stdout)
      return 0
    default:
      return complain(usage)
  }
}

function complain(text: string): number {
  process.stderr.write(`${text}\n`)
  return 2
}

const pidFile = (folder: string): string => join(folder, 'pid')

/** Is the runner, until it is ended or has had no link for hours. */
async function serve(folder: string): Promise<number> {
  const log = createLogger({ level: 'warn' })
  const own = ownFolder(folder)
  using _lock = lockOrNull(own)
  if (_lock === null) return heldCode
  const ports = createJobPorts(log)
  await using links = await serveLinks(own, ports.carry)
  const stop = new AbortController()
  using _ = onEndSignal(['SIGTERM', 'SIGINT'], () => stop.abort())
  // It is in a session of its own: the end of the link's shell is not its end.
  process.on('SIGHUP', () => undefined)
  await writeFile(pidFile(own), String(process.pid), { mode: 0o600 })
  let lonelySince = performance.now()
  const lonely = setInterval(() => {
    if (links.isLinked()) lonelySince = performance.now()
    if (performance.now() - lonelySince > lonelyHours * 3_600_000) stop.abort()
  }, 60_000)
  try {
    const service = createServiceCalls({ url: () => links.url, token: links.token })
    const program = [process.execPath, process.argv[1] ?? '']
    await using programs = createContainedPrograms({ folder, own, url: () => links.url, log })
    const others = createOtherPrograms({ folder, links, log }, { signal: stop.signal })
    const hasKept = await runRunner({ service, folder, own, program, log, ports, others, ...programs }, stop.signal)
    if (hasKept) log.warn({ folder }, 'work that could not be sent is kept')
    return 0
  } catch (error) {
    if (!(error instanceof ServiceRefusal)) throw error
    log.error({ code: error.code }, error.message)
    return 1
  } finally {
    clearInterval(lonely)
    await rm(pidFile(own), { force: true })
  }
}

/** The exit code of a runner whose folder another one has. */
const heldCode = 3

/** Takes the folder; two links that begin at once each start a runner. Returns null if another one has it. */
function lockOrNull(folder: string): Disposable | null {
  try {
    return lockDataDir(folder)
  } catch (error) {
    if (!(error instanceof DataDirLockedError)) throw error
    process.stderr.write(`${error.message}\n`)
    return null
  }
}

/** Carries a link between its input and output and the runner of the folder, which it starts if none runs. */
async function link(folder: string): Promise<number> {
  const socket = (await connectTo(ownFolder(folder))) ?? (await startServe(folder))
  if (socket === null) return complain(`The runner did not start: ${await lastWords(folder)}`)
  process.stdout.write(linkMark(jobProtocol))
  process.stdin.pipe(socket)
  socket.pipe(process.stdout)
  process.stdin.on('error', () => socket.destroy())
  process.stdout.on('error', () => socket.destroy())
  await once(socket, 'close')
  return 0
}

/** Ends the runner of the folder and all that it runs, programs of other versions too. */
async function end(folder: string): Promise<number> {
  await Promise.all((await programFolders(folder)).map(endOne))
  return 0
}

async function endOne(own: string): Promise<void> {
  const pid = Number(await readFile(pidFile(own), 'utf8').catch(() => ''))
  // Where nothing answers, the number may be another program's by now.
  if (pid <= 1 || !(await answers(own))) return
  process.kill(pid, 'SIGTERM')
  for (let tries = 0; tries < 300 && (await answers(own)); tries++) await delay(100)
}

async function answers(own: string): Promise<boolean> {
  const socket = await connectTo(own)
  socket?.destroy()
  return socket !== null
}

const logFile = (folder: string): string => join(ownFolder(folder), 'runner.log')

async function startServe(folder: string): Promise<Socket | null> {
  await mkdir(ownFolder(folder), { recursive: true, mode: 0o700 })
  const log = await open(logFile(folder), 'a', 0o600)
  const child = spawn(process.execPath, [process.argv[1] ?? '', 'serve', folder], {
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    cwd: folder,
  })
  child.unref()
  await log.close()
  for (let tries = 0; tries < 300; tries++) {
    const socket = await connectTo(ownFolder(folder))
    if (socket !== null) return socket
    if (child.exitCode !== null && child.exitCode !== heldCode) return null
    await delay(50)
  }
  return null
}

async function lastWords(folder: string): Promise<string> {
  const text = await readFile(logFile(folder), 'utf8').catch(() => '')
  return text.trim().split('\n').slice(-3).join('\n')
}
