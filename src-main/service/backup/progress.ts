/** One line on a terminal that says how far a command is; nothing elsewhere. */
export interface Progress extends Disposable {
  show(text: string): void
}

const everyMs = 100

export function createProgress(json: boolean): Progress {
  const isShown = !json && process.stderr.isTTY
  let last = { at: 0, step: '' }
  const clear = () => {
    if (isShown) process.stderr.write('\r\u001b[2K')
  }
  return {
    show: (text) => {
      const now = { at: performance.now(), step: text.replace(/\d.*$/, '') }
      if (!isShown || (now.step === last.step && now.at - last.at < everyMs)) return
      last = now
      clear()
      process.stderr.write(text)
    },
    [Symbol.dispose]: clear,
  }
}
