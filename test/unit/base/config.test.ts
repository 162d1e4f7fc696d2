import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { ConfigError, readConfig, type ConfigOptions } from '../../../src-main/base/config.ts'
import { defaultDataDir } from '../../../src-main/base/paths.ts'

const program = {
  root: '/program',
  version: '1.2.3',
  webRoot: '/program/dist/renderer',
  workflowsDir: '/program/workflows',
  migrationsDir: '/program/migrations',
}

function refusal(env: Readonly<Record<string, string>>, options: ConfigOptions = {}): string {
  try {
    readConfig(env, options, program)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return 'accepted'
}

test('without any setting everything has its default', () => {
  expect(readConfig({ SVC_DATA_DIR: '/data', SVC_PORT: '' }, {}, program)).toEqual({
    dataDir: resolve('/data'),
    host: '127.0.0.1',
    port: 4870,
    workspaceRoot: resolve('/data/workspaces'),
    cleanupDelaySeconds: 86_400,
    bcryptCost: 12,
    registration: 'open',
    logLevel: 'info',
    webRoot: program.webRoot,
    workflowsDir: program.workflowsDir,
    migrationsDir: program.migrationsDir,
    version: '1.2.3',
  })
})

test('the command line wins over the environment, and both over the defaults', () => {
  const env = { SVC_HOST: '0.0.0.0', SVC_PORT: '1', SVC_DATA_DIR: '/env', SVC_WORKSPACE_ROOT: '/trees' }
  expect(readConfig(env, { port: '0', dataDir: '/flag', host: '[::1]' }, program)).toMatchObject({
    host: '::1',
    port: 0,
    dataDir: resolve('/flag'),
    workspaceRoot: resolve('/trees'),
  })
})

test.each([
  ['SVC_PORT', 'abc', 'SVC_PORT="abc" cannot be used: give a whole number from 0 to 65535.'],
  ['SVC_PORT', '65536', 'SVC_PORT="65536" cannot be used: give a whole number from 0 to 65535.'],
  ['SVC_PORT', '1e3', 'SVC_PORT="1e3" cannot be used: give a whole number from 0 to 65535.'],
  ['SVC_HOST', 'a b', 'SVC_HOST="a b" cannot be used: give an address to listen on, such as 127.0.0.1.'],
  ['SVC_BCRYPT_COST', '32', 'SVC_BCRYPT_COST="32" cannot be used: give a whole number from 4 to 31.'],
  ['SVC_REGISTRATION', 'shut', 'SVC_REGISTRATION="shut" cannot be used: give one of open, closed.'],
  ['SVC_WORKSPACE_ROOT', ' ', 'SVC_WORKSPACE_ROOT=" " cannot be used: give the path of a folder.'],
])('%s=%j is refused in one line', (name, value, message) => {
  expect(refusal({ [name]: value })).toBe(message)
})

test('a refused flag is named as it was typed', () => {
  expect(refusal({}, { port: '-1' })).toBe('--port="-1" cannot be used: give a whole number from 0 to 65535.')
})

test.each([
  ['linux', {}, '/u/.local/share/copse'],
  ['linux', { XDG_DATA_HOME: '/x' }, '/x/copse'],
  ['darwin', {}, '/u/Library/Application Support/Copse'],
] as const)('on %s with %j the data lies in the platform’s own folder', (platform, env, folder) => {
  expect(defaultDataDir(env, platform, '/u')).toBe(folder)
})
