import { readFileSync } from 'node:fs'
import { expect } from 'vitest'

/**
 * Tests whose programs see other folders than the machine's: a sandbox and a container bring their own /dev, where a
 * folder in memory lies.
 */
const withOwnDevices = /contained|containment|container/

const inMemory = process.env['COPSE_TEST_MEMORY']
const { testPath } = expect.getState()

// A fifth of a test with git and a database is the wait for the disk.
if (inMemory !== undefined && testPath !== undefined) {
  const onDisk = (process.env['COPSE_TEST_DISK'] ??= process.env['TMPDIR'] ?? '')
  const isOnDisk = /runners?\//.test(testPath) || withOwnDevices.test(`${testPath}${readFileSync(testPath, 'utf8')}`)
  if (!isOnDisk) process.env['TMPDIR'] = inMemory
  else if (onDisk === '') Reflect.deleteProperty(process.env, 'TMPDIR')
  else process.env['TMPDIR'] = onDisk
}
