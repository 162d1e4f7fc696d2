import { existsSync } from 'node:fs'
import type { Variables } from './agent-profile.ts'

/** Returns whether one of these variables is set and not empty. */
export const hasVariable = (environment: Variables, names: readonly string[]): boolean =>
  names.some((name) => (environment[name] ?? '').trim() !== '')

/** Returns whether one of these files exists; their content is never read. */
export const hasFile = (paths: readonly string[]): boolean => paths.some((path) => existsSync(path))
