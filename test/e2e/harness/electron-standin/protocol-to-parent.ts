import { EventEmitter } from 'node:events'

/** Stand-in to test: every request of the app to the desktop. */
export interface DesktopCall {
  readonly name: string
  readonly args: readonly unknown[]
}

/** Test to stand-in: the answer to the next call of that name. */
export interface DesktopAnswer {
  readonly name: string
  readonly answer: unknown
}

/** Test to desktop: a click on a menu item, the window's button, or an act of another program. */
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

/** Handles the test's acts of a kind. */
export function onAct(kind: DesktopAct['act'], perform: (item: string) => void): void {
  acts.on(kind, perform)
}
// The test's channel must not keep the app alive.
process.channel?.unref()

/** Reports a call to the test; returns the test's answer, or `otherwise`. */
export function record<T>(name: string, args: readonly unknown[], otherwise: T): T {
  const call: DesktopCall = { name, args: JSON.parse(JSON.stringify(args)) as unknown[] }
  if (process.connected) process.send?.(call)
  return answers.has(name) ? (answers.get(name) as T) : otherwise
}
