import { app } from 'electron'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Updater } from './updates.ts'

/**
 * Finds newer versions through electron-updater, which verifies its downloads, at the source in the packaged program.
 * `leave` stops the service first, because the new program starts before this one has exited.
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
      // Setting `channel` allows downgrades; a user who leaves the beta channel keeps the beta until a newer version
      // exists.
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
      // The service has stopped, so a failed install restarts the old program.
      updater.once('error', () => {
        app.relaunch()
        app.quit()
      })
      updater.quitAndInstall(false, true)
    },
  }
}
