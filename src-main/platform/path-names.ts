import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'

/** Returns the path with the home folder for `~`. */
export const inFull = (path: string): string => path.replace(/^~(?=\/|$)/, homedir())

/** Returns whether a path is the folder or below it, by name only. */
export const isWithin = (path: string, folder: string): boolean => !/^\.\.(?:[\\/]|$)/.test(relative(folder, path))

/** Resolves a path's symlinks. Missing parts keep their names. */
export function realPath(path: string): string {
  const whole = resolve(path)
  if (existsSync(whole)) return realpathSync(whole)
  return dirname(whole) === whole ? whole : join(realPath(dirname(whole)), basename(whole))
}
