/** What the stand-in tells the test: everything that the app asked of the desktop. */
export interface DesktopCall {
  readonly name: string
  readonly args: readonly unknown[]
}

/** What the test tells the stand-in: how the next call of that name is answered. */
export interface DesktopAnswer {
  readonly name: string
  readonly answer: unknown
}

const answers = new Map<string, unknown>()
process.on('message', (message: DesktopAnswer) => answers.set(message.name, message.answer))
// The test's channel must not keep the app alive.
process.channel?.unref()

/** Tells the test of a call; answers what the test has set for it, else `otherwise`. */
export function record<T>(name: string, args: readonly unknown[], otherwise: T): T {
  const call: DesktopCall = { name, args: JSON.parse(JSON.stringify(args)) as unknown[] }
  if (process.connected) process.send?.(call)
  return answers.has(name) ? (answers.get(name) as T) : otherwise
}
