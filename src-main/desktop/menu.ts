import { Menu, type MenuItemConstructorOptions } from 'electron'

/** The menus of the platform: macOS shows them, elsewhere they carry the keys of editing and zooming. */
export function setMenu(options: { readonly platform: NodeJS.Platform; readonly developer: boolean }): void {
  const view: MenuItemConstructorOptions[] = [
    { role: 'resetZoom' },
    { role: 'zoomIn' },
    { role: 'zoomOut' },
    { type: 'separator' },
    { role: 'togglefullscreen' },
    ...(options.developer ? [{ role: 'reload' } as const, { role: 'toggleDevTools' } as const] : []),
  ]
  const template: MenuItemConstructorOptions[] = [
    options.platform === 'darwin' ? { role: 'appMenu' } : { role: 'fileMenu' },
    { role: 'editMenu' },
    { label: 'View', submenu: view },
    { role: 'windowMenu' },
  ]
  Menu.setApplicationMenu(Menu.buildFromTemplate(template))
}
