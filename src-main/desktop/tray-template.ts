import type { MenuItemConstructorOptions } from 'electron'
import type { Activity } from './activity.ts'

/** What a click in the tray does. */
export interface TrayActions {
  show(): void
  newTask(): void
  pause(): void
  resume(): void
  quit(): void
}

/** What the tray says when it is pointed at. */
export function trayTooltip({ running }: Activity): string {
  if (running === 0) return 'Copse: no agents running'
  return running === 1 ? 'Copse: 1 agent running' : `Copse: ${running} agents running`
}

/** The tray's menu: how many run, a quick task, and a pause for all projects. */
export function trayTemplate(activity: Activity, actions: TrayActions): MenuItemConstructorOptions[] {
  const { projects } = activity
  const allPaused = projects.length > 0 && projects.every(({ paused }) => paused)
  return [
    { label: trayTooltip(activity).replace('Copse: ', '').replace(/^n/, 'N'), enabled: false },
    { type: 'separator' },
    { label: 'Open Copse', click: actions.show },
    { label: 'New Task…', enabled: projects.length > 0, click: actions.newTask },
    allPaused
      ? { label: 'Resume Projects', click: actions.resume }
      : { label: 'Pause All Projects', enabled: projects.length > 0, click: actions.pause },
    { type: 'separator' },
    { label: 'Quit Copse', click: actions.quit },
  ]
}

/** The projects that a pause in the tray concerns. */
export function toPause({ projects }: Activity): readonly string[] {
  return projects.filter(({ paused }) => !paused).map(({ id }) => id)
}

/** Those that go on: what the tray has paused, so that one that a person paused before stays so; else all. */
export function toResume({ projects }: Activity, byTray: readonly string[]): readonly string[] {
  const paused = projects.filter((project) => project.paused).map(({ id }) => id)
  const own = paused.filter((id) => byTray.includes(id))
  return own.length > 0 ? own : paused
}
