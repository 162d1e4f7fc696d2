import { EventEmitter } from 'node:events'

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

/** What the test does to the desktop: a click on an item of a menu, the window's own button, another program's doing. */
export interface DesktopAct {
  readonly act: 'click' | 'close'
  /** The item's label. */
  readonly item?: string
}

const answers = new Map<string, unknown>()
const acts = new EventEmitter()
process.on('message', (message: DesktopAnswer | DesktopAct) => {
  if ('act' in message) acts.emit(message.act, message.item)
  else answers.set(message.name, message.answer)
})

/** Has the test's acts of a kind done. */
export function onAct(kind: DesktopAct['act'], perform: (item: string) => void): void {
  acts.on(kind, perform)
}
// The test's channel must not keep the app alive.
process.channel?.unref()

/** Tells the test of a call; answers what the test has set for it, else `otherwise`. */
export function record<T>(name: string, args: readonly unknown[], otherwise: T): T {
  const call: DesktopCall = { name, args: JSON.parse(JSON.stringify(args)) as unknown[] }
  if (process.connected) process.send?.(call)
  return answers.has(name) ? (answers.get(name) as T) : otherwise
}
