import { fork } from 'node:child_process'
import { once } from 'node:events'
import { childEnvironment } from './process-environment.ts'

/** A process that does some of the service's work, and ends with the service however that ends. */
export interface HelperProcess {
  send(message: object): void
  /** Has the process keep the service's own alive, or not. */
  hold(isHeld: boolean): void
  /** Ends the process; resolves when it is gone. */
  end(): Promise<void>
}

/** Starts a helper's program. `onEnd` is called once, when the process is gone or could not be started. */
export type HelperStarter = (
  file: string,
  listeners: { readonly onMessage: (message: unknown) => void; readonly onEnd: () => void },
) => HelperProcess

/** Time to end by itself. */
const endGraceMs = 2_000

/** Starts a helper as a process of Node, which ends when its channel is closed. */
export const forkHelper: HelperStarter = (file, { onMessage, onEnd }) => {
  const child = fork(file, {
    serialization: 'advanced',
    // A helper needs none of the service's secrets.
    env: childEnvironment({}),
    // A small heap for short-lived messages: the less memory a process has, the less it takes to start another one.
    execArgv: ['--max-semi-space-size=1'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const ended = once(child, 'exit').then(onEnd, onEnd)
  // `exit` or an error of the start says that it is gone.
  child.on('error', () => undefined)
  child.on('message', onMessage)
  child.unref()
  child.channel?.unref()
  return {
    send: (message) => {
      if (child.connected) child.send(message, () => undefined)
    },
    hold: (isHeld) => {
      if (isHeld) child.channel?.ref()
      else child.channel?.unref()
    },
    end: async () => {
      child.ref()
      if (child.connected) child.disconnect()
      const late = setTimeout(() => child.kill('SIGKILL'), endGraceMs)
      await ended
      clearTimeout(late)
    },
  }
}
