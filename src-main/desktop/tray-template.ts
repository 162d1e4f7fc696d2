import type { MenuItemConstructorOptions } from 'electron'
import type { Activity } from './activity.ts'

/** Click actions of the tray. */
export interface TrayActions {
  show(): void
  newTask(): void
  pause(): void
  resume(): void
  quit(): void
}

/** Returns the tray's tooltip. */
export function trayTooltip({ running }: Activity): string {
  if (running === 0) return 'Copse: no agents running'
  return running === 1 ? 'Copse: 1 agent running' : `Copse: ${running} agents running`
}

/** Returns the tray's menu: the number of running agents, a quick task, and a pause for all projects. */
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

/** Returns the projects that a pause in the tray affects. */
export function toPause({ projects }: Activity): readonly string[] {
  return projects.filter(({ paused }) => !paused).map(({ id }) => id)
}

/**
 * Returns the projects to resume: the ones paused by the tray, so that earlier pauses of a person stay; without any,
 * all.
 */
export function toResume({ projects }: Activity, byTray: readonly string[]): readonly string[] {
  const paused = projects.filter((project) => project.paused).map(({ id }) => id)
  const pausedByTray = paused.filter((id) => byTray.includes(id))
  return pausedByTray.length > 0 ? pausedByTray : paused
}
