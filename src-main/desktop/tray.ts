import { Menu, nativeImage, Tray } from 'electron'
import { join } from 'node:path'
import type { Activity } from './activity.ts'
import { trayTemplate, trayTooltip, type TrayActions } from './tray-template.ts'

/** The icon beside the clock. */
export interface OpenTray {
  show(activity: Activity): void
}

/** Puts it there, with its pictures from the folder `icons`. */
export function openTray(icons: string, platform: NodeJS.Platform, actions: TrayActions): OpenTray {
  // macOS colours its own by itself: a picture called …Template, with one twice as large beside it.
  const tray = new Tray(
    nativeImage.createFromPath(join(icons, platform === 'darwin' ? 'trayTemplate.png' : 'tray.png')),
  )
  // Elsewhere a click opens the menu.
  if (platform === 'win32') tray.on('click', actions.show)
  return {
    show: (activity) => {
      tray.setToolTip(trayTooltip(activity))
      if (platform === 'darwin') tray.setTitle(activity.running === 0 ? '' : String(activity.running))
      tray.setContextMenu(Menu.buildFromTemplate(trayTemplate(activity, actions)))
    },
  }
}
