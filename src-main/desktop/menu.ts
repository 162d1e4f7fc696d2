import { Menu } from 'electron'
import { menuTemplate, type MenuParts } from './menu-template.ts'

/** Puts the menus in their place: macOS shows them above, elsewhere they are the window's. */
export function setMenu(parts: MenuParts): void {
  Menu.setApplicationMenu(Menu.buildFromTemplate(menuTemplate(parts)))
}
