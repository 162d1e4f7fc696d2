/** One line on a terminal that says how far a command is; nothing elsewhere. */
export interface Progress extends Disposable {
  show(text: string): void
}

const everyMs = 100

export function createProgress(json: boolean): Progress {
  const isShown = !json && process.stderr.isTTY
  let last = 0
  const clear = () => {
    if (isShown) process.stderr.write('\r\u001b[2K')
  }
  return {
    show: (text) => {
      const now = performance.now()
      if (!isShown || now - last < everyMs) return
      last = now
      clear()
      process.stderr.write(text)
    },
    [Symbol.dispose]: clear,
  }
}
