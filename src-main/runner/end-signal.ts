/** Calls `onEnd` at the first of these signals; the second ends the process at once, as if nothing listened. */
export function onEndSignal(names: readonly NodeJS.Signals[], onEnd: (name: NodeJS.Signals) => void): Disposable {
  const first = (name: NodeJS.Signals): void => {
    leave()
    onEnd(name)
  }
  const leave = (): void => {
    for (const name of names) process.off(name, first)
  }
  for (const name of names) process.on(name, first)
  return { [Symbol.dispose]: leave }
}
