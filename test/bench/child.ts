import { fork } from 'node:child_process'
import { once } from 'node:events'

/** A helper of a row in a process of its own, so that its cost is not in the numbers of what it measures. */
export interface Helper<Request, Answer> extends AsyncDisposable {
  /** One question at a time. Rejects when the helper reports an error or ends. */
  ask(request: Request): Promise<Answer>
}

interface Reply<Answer> {
  readonly answer?: Answer
  readonly error?: string
}

/** Starts a module that answers with `serveParent`. */
export function startHelper<Request, Answer>(module: URL): Helper<Request, Answer> {
  const child = fork(module, { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const exit = once(child, 'exit')
  return {
    ask: async (request) => {
      const replied = once(child, 'message') as Promise<[Reply<Answer>]>
      child.send(request as object)
      const ended = exit.then(() => {
        throw new Error(`${module.pathname} ended.`)
      })
      const [{ answer, error }] = await Promise.race([replied, ended])
      if (error !== undefined) throw new Error(error)
      return answer as Answer
    },
    [Symbol.asyncDispose]: async () => {
      if (child.connected) child.disconnect()
      await exit
    },
  }
}

/** The helper's side: answers each message until the parent goes. */
export function serveParent<Request, Answer>(answer: (request: Request) => Promise<Answer> | Answer): void {
  const respond = async (request: Request): Promise<Reply<Answer>> => {
    try {
      return { answer: await answer(request) }
    } catch (error) {
      return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
    }
  }
  process.on('message', (request) => void respond(request as Request).then((reply) => process.send?.(reply)))
  process.once('disconnect', () => process.exit(0))
}
