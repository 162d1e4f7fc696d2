import { existsSync } from 'node:fs'
import type { Variables } from './agent-profile.ts'

/** One of these variables is set to something. */
export const hasVariable = (environment: Variables, names: readonly string[]): boolean =>
  names.some((name) => (environment[name] ?? '').trim() !== '')

/** One of these files is there. What is in it is nobody's business here. */
export const hasFile = (paths: readonly string[]): boolean => paths.some((path) => existsSync(path))
