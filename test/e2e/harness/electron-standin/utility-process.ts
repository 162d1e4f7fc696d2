import { fork, type ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'

/** Gives a process of Node the port to its parent that Electron's own has. */
const port = `data:text/javascript,${encodeURIComponent(`
  import { EventEmitter } from 'node:events'
  const port = new EventEmitter()
  port.postMessage = (message) => process.send(message)
  process.on('message', (data) => port.emit('message', { data }))
  process.parentPort = port
`)}`

/** A process of Node that is spoken to as one of Electron's. */
class UtilityProcess extends EventEmitter {
  readonly #child: ChildProcess

  constructor(file: string, args: readonly string[]) {
    super()
    this.#child = fork(file, args, {
      serialization: 'advanced',
      execArgv: ['--import', port],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    this.#child.on('message', (message) => this.emit('message', message))
    this.#child.on('exit', (code) => this.emit('exit', code))
  }

  postMessage(message: unknown): void {
    this.#child.send(message as object, () => undefined)
  }

  kill(): boolean {
    return this.#child.kill('SIGKILL')
  }
}

export const utilityProcess = {
  fork: (file: string, args: readonly string[] = []) => new UtilityProcess(file, args),
}
