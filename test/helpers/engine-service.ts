import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'vitest'

export interface EngineService extends AsyncDisposable {
  readonly url: `unix://${string}`
  /** Ends it, and starts another one after so long. */
  kill(ms: number): Promise<void>
}

/** Starts Podman as a program with a socket, as Docker's engine is. */
export async function startEngineService(): Promise<EngineService> {
  const folder = await mkdtemp(join(tmpdir(), 'copse-engine-'))
  const socket = join(folder, 'engine.sock')
  let child: ChildProcess | null = null
  const start = async (): Promise<void> => {
    await rm(socket, { force: true })
    child = spawn('podman', ['system', 'service', '--time', '0', `unix://${socket}`], { stdio: 'ignore' })
    await expect.poll(() => answers(socket), { timeout: 20_000 }).toBe(true)
  }
  const stop = async (): Promise<void> => {
    const ending = child && once(child, 'exit')
    child?.kill('SIGKILL')
    await ending
  }
  await start()
  return {
    url: `unix://${socket}`,
    kill: async (ms) => {
      await stop()
      await setTimeout(ms)
      await start()
    },
    [Symbol.asyncDispose]: async () => {
      await stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
