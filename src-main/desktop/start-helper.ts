import { once } from 'node:events'
import { utilityProcess } from 'electron'
import { childEnvironment } from '../platform/process/process-environment.ts'
import type { HelperStarter } from '../platform/process/helper-process.ts'

/** Starts a helper as Electron's own kind of process: a packaged app runs no scripts as Node. */
export const startHelper: HelperStarter = (file, { onMessage, onEnd }) => {
  const child = utilityProcess.fork(file, [], {
    env: childEnvironment({}),
    stdio: 'ignore',
    serviceName: 'Copse helper',
  })
  const ended = once(child, 'exit').then(onEnd, onEnd)
  child.on('message', onMessage)
  return {
    send: (message) => child.postMessage(message),
    // The app lives until it is quit.
    hold: () => undefined,
    end: async () => {
      child.kill()
      await ended
    },
  }
}
