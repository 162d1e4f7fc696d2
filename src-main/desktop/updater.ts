import { app } from 'electron'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Updater } from './updates.ts'

/**
 * Newer versions from where the packed program was told to look, by electron-updater, which checks what it fetches.
 * `leave` ends what is under way, since the new program is started before this one has gone.
 */
export function findUpdater(leave: () => Promise<void>): Updater | 'not_installed' | 'no_feed' {
  if (!app.isPackaged) return 'not_installed'
  if (!existsSync(join(process.resourcesPath, 'app-update.yml'))) return 'no_feed'
  const load = async () => {
    const { autoUpdater } = (await import('electron-updater')).default
    autoUpdater.autoDownload = false
    autoUpdater.autoInstallOnAppQuit = false
    autoUpdater.logger = null
    return autoUpdater
  }
  return {
    find: async (channel) => {
      const updater = await load()
      updater.allowPrerelease = channel === 'beta'
      updater.channel = channel === 'beta' ? 'beta' : 'latest'
      // Setting a channel allows it, and whoever leaves the betas keeps theirs until there is a newer version.
      updater.allowDowngrade = false
      const found = await updater.checkForUpdates()
      return found?.isUpdateAvailable === true ? found.updateInfo.version : null
    },
    download: async (onPercent) => {
      const updater = await load()
      const listen = ({ percent }: { readonly percent: number }) => onPercent(percent)
      updater.on('download-progress', listen)
      await updater.downloadUpdate().finally(() => updater.off('download-progress', listen))
    },
    install: async () => {
      const updater = await load()
      await leave()
      app.releaseSingleInstanceLock()
      // The service has ended: if the new program cannot be put in place, the old one begins anew.
      updater.once('error', () => {
        app.relaunch()
        app.quit()
      })
      updater.quitAndInstall(false, true)
    },
  }
}
