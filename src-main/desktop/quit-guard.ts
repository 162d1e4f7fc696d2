import type { DesktopSettings } from '../../src-shared/contract/desktop.ts'

/** A question with buttons; the last one changes nothing. */
export interface LeavingQuestion {
  readonly message: string
  readonly detail: string
  readonly buttons: readonly string[]
  /** A box to tick; null where the answer is remembered anyway. */
  readonly checkbox: string | null
}

/** What leaving takes of the desktop. */
export interface LeavingPorts {
  readonly platform: NodeJS.Platform
  /** How many agents run. */
  atWork(): number
  settings(): Pick<DesktopSettings, 'whenClosed' | 'whenQuit'>
  remember(change: Partial<DesktopSettings>): void
  ask(question: LeavingQuestion): Promise<{ readonly button: number; readonly checked: boolean }>
  /** Takes the windows away and leaves the program in the tray. */
  hide(): void
  quit(): void
}

/** Whether the window or the program may go while agents run. */
export interface QuitGuard {
  mayClose(): boolean
  mayQuit(): boolean
  /** The system or an update ends the program: nobody is asked any more. */
  allowQuit(): void
}

const work = (count: number) => (count === 1 ? '1 agent is running.' : `${count} agents are running.`)
const nothingLost = 'Quitting stops them. Their work is kept, and you can resume them next time.'

/** Asks when that is wished for, does as chosen, and lets go whoever has been answered. */
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
      // A program of macOS has no window now and then, which is no reason to ask.
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
        // A program that quits closes its windows, which must not stay for the agents.
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
