import { readConfig } from '../platform/config/config.ts'
import { ConfigError } from '../platform/config/config-error.ts'
import { prepareDataDir } from '../platform/config/paths.ts'
import { DataDirLockedError, lockDataDir } from '../platform/locks/single-instance.ts'
import { rotateSigningKey } from '../compose.ts'
import type { StartOptions } from './start-service.ts'

/** Gives a stopped service a new signing key. Resolves to the exit code; prints a refusal as one line on stderr. */
export function rotateKey(
  options: Pick<StartOptions, 'program' | 'env' | 'dataDir'> & { readonly json: boolean },
): number {
  try {
    const { dataDir } = readConfig(options.env, options, options.program)
    prepareDataDir(dataDir)
    using _ = lockDataDir(dataDir)
    rotateSigningKey(dataDir)
    const line = options.json
      ? JSON.stringify({ event: 'key_rotated' })
      : 'New signing key created. Access tokens are invalid now; refresh tokens and personal access tokens still work.'
    process.stdout.write(`${line}\n`)
    return 0
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof DataDirLockedError)) throw error
    process.stderr.write(`copse: ${error.message}\n`)
    return error instanceof ConfigError ? 2 : 1
  }
}
