import type { DesktopSettings } from '../../src-shared/contract/desktop.ts'

/** A question with buttons; the last one changes nothing. */
export interface LeavingQuestion {
  readonly message: string
  readonly detail: string
  readonly buttons: readonly string[]
  /** Label of a checkbox; null if the answer is remembered anyway. */
  readonly checkbox: string | null
}

/** Desktop functions for closing and quitting. */
export interface LeavingPorts {
  readonly platform: NodeJS.Platform
  /** Returns the number of running agents. */
  atWork(): number
  settings(): Pick<DesktopSettings, 'whenClosed' | 'whenQuit'>
  remember(change: Partial<DesktopSettings>): void
  ask(question: LeavingQuestion): Promise<{ readonly button: number; readonly checked: boolean }>
  /** Hides the windows and keeps the program in the tray. */
  hide(): void
  quit(): void
}

/** Decides whether a window may close or the program may quit while agents run. */
export interface QuitGuard {
  mayClose(): boolean
  mayQuit(): boolean
  /** Allows quitting without a question, because the system or an update ends the program. */
  allowQuit(): void
}

const work = (count: number) => (count === 1 ? '1 agent is running.' : `${count} agents are running.`)
const nothingLost =
  'Quitting stops those on this machine; those on other machines continue. Their work is kept, and you can resume them next time.'

/** Asks if the settings say so, applies the answer, and asks no more after a confirmed quit. */
export function createQuitGuard(ports: LeavingPorts): QuitGuard {
  let insisted = false
  let asking = false

  function allowQuit(): void {
    insisted = true
  }
  function leave(): void {
    allowQuit()
    ports.quit()
  }
  function askOnce(question: LeavingQuestion, answered: (button: number, checked: boolean) => void): void {
    if (asking) return
    asking = true
    void ports
      .ask(question)
      .then(({ button, checked }) => answered(button, checked))
      .finally(() => (asking = false))
  }
  return {
    allowQuit,
    mayClose: () => {
      const count = ports.atWork()
      if (insisted || count === 0) return true
      // A macOS program may run without a window, so closing one needs no question.
      const choice = ports.platform === 'darwin' ? 'tray' : ports.settings().whenClosed
      if (choice === 'tray') ports.hide()
      if (choice === 'quit') allowQuit()
      if (choice === 'ask') {
        const detail = `${nothingLost} In the tray they keep running. You can change this in Settings → Desktop.`
        const buttons = ['Keep running in the tray', 'Quit', 'Cancel']
        askOnce({ message: work(count), detail, buttons, checkbox: null }, (button) => {
          if (button > 1) return
          ports.remember({ whenClosed: button === 0 ? 'tray' : 'quit' })
          if (button === 0) ports.hide()
          else leave()
        })
      }
      return choice === 'quit'
    },
    mayQuit: () => {
      const count = ports.atWork()
      if (insisted || count === 0 || ports.settings().whenQuit === 'end') {
        // A quit closes the windows, and running agents must not keep them open.
        allowQuit()
        return true
      }
      const buttons = ['Quit', 'Keep running in the tray', 'Cancel']
      askOnce(
        { message: work(count), detail: nothingLost, buttons, checkbox: "Don't ask again" },
        (button, checked) => {
          if (button === 0 && checked) ports.remember({ whenQuit: 'end' })
          if (button === 0) leave()
          if (button === 1) ports.hide()
        },
      )
      return false
    },
  }
}
