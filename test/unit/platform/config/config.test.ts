import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ConfigError } from '../../../../src-main/platform/config/config-error.ts'
import { readConfig, type ConfigOptions } from '../../../../src-main/platform/config/config.ts'
import { defaultDataDir } from '../../../../src-main/platform/config/paths.ts'

const program = {
  root: '/program',
  version: '1.2.3',
  webRoot: '/program/dist/renderer',
  workflowsDir: '/program/workflows',
  migrationsDir: '/program/migrations',
  runnerProgram: '/program/dist/runner/runner.mjs',
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

test('has defaults for everything', () => {
  expect(readConfig({ SVC_DATA_DIR: '/data', SVC_PORT: '' }, {}, program)).toEqual({
    dataDir: resolve('/data'),
    host: '127.0.0.1',
    port: 4870,
    workspaceRoot: resolve('/data/workspaces'),
    cleanupDelaySeconds: 86_400,
    bcryptCost: 12,
    registration: null,
    logLevel: 'info',
    webRoot: program.webRoot,
    workflowsDir: program.workflowsDir,
    migrationsDir: program.migrationsDir,
    runnerProgram: program.runnerProgram,
    version: '1.2.3',
    allowedHosts: [],
    trustProxy: [],
    maxConnections: 2_000,
    tls: null,
    startedAs: 'serve',
    expose: false,
    projectCreators: null,
    containment: 'auto',
  })
})

test('reads every setting from the environment', () => {
  const env = {
    SVC_HOST: '127.0.0.2',
    SVC_PORT: '8080',
    SVC_DATA_DIR: '/data',
    SVC_WORKSPACE_ROOT: '/trees',
    SVC_WORKSPACE_CLEANUP_DELAY_SECONDS: '60',
    SVC_BCRYPT_COST: '4',
    SVC_REGISTRATION: 'closed',
    SVC_PROJECT_CREATORS: 'admins',
    SVC_LOG_LEVEL: 'debug',
    SVC_MAX_CONNECTIONS: '500',
  }
  expect(readConfig(env, {}, program)).toMatchObject({
    host: '127.0.0.2',
    port: 8080,
    dataDir: resolve('/data'),
    workspaceRoot: resolve('/trees'),
    cleanupDelaySeconds: 60,
    bcryptCost: 4,
    registration: 'closed',
    projectCreators: 'admins',
    logLevel: 'debug',
    maxConnections: 500,
  })
})

test('prefers the command line to the environment, and both to the defaults', () => {
  const numbers = { SVC_BCRYPT_COST: '4', SVC_WORKSPACE_CLEANUP_DELAY_SECONDS: '60' }
  const env = { SVC_HOST: '127.0.0.2', SVC_PORT: '1', SVC_DATA_DIR: '/env', SVC_WORKSPACE_ROOT: '/trees', ...numbers }
  expect(readConfig(env, { port: '0', dataDir: '/flag', host: '[::1]' }, program)).toMatchObject({
    host: '::1',
    port: 0,
    dataDir: resolve('/flag'),
    workspaceRoot: resolve('/trees'),
  })
})

test('listens beyond this machine only if that is set explicitly', () => {
  const refused =
    'it opens the service to the network. Add --expose (SVC_EXPOSE=1) if you mean to; see docs/security.md.'
  expect(refusal({ SVC_HOST: '0.0.0.0' })).toBe(`SVC_HOST="0.0.0.0" cannot be used: ${refused}`)
  expect(refusal({ SVC_EXPOSE: '0' }, { host: 'box.lan' })).toBe(`--host="box.lan" cannot be used: ${refused}`)
  expect(refusal({ SVC_EXPOSE: 'yes' })).toBe('SVC_EXPOSE="yes" cannot be used: give one of 0, 1.')
  expect(readConfig({ SVC_HOST: '0.0.0.0', SVC_EXPOSE: '1' }, {}, program).host).toBe('0.0.0.0')
  expect(readConfig({}, { host: '::', expose: true }, program).host).toBe('::')
  expect(['localhost', '127.0.0.2', '::1'].map((host) => refusal({}, { host }))).toEqual(Array(3).fill('accepted'))
})

test('reads proxies and host names as lists, and needs a key with a certificate', () => {
  const env = { SVC_TRUST_PROXY: '127.0.0.1, 10.0.0.0/8,fd00::/8', SVC_ALLOWED_HOSTS: 'copse.example.com,box' }
  expect(readConfig(env, {}, program)).toMatchObject({
    trustProxy: ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'],
    allowedHosts: ['copse.example.com', 'box'],
  })
  expect(refusal({ SVC_TRUST_PROXY: '10.0.0.0/33' })).toContain('give addresses or networks of your proxies')
  expect(refusal({ SVC_TRUST_PROXY: 'true' })).toContain('SVC_TRUST_PROXY="true" cannot be used')
  expect(refusal({ SVC_ALLOWED_HOSTS: 'https://x' })).toContain('give host names, separated by commas.')
  expect(refusal({}, { tlsCert: '/x.pem' })).toBe(
    '--tls-cert="/x.pem" cannot be used: give both, SVC_TLS_CERT and SVC_TLS_KEY.',
  )
  const cert = fileURLToPath(new URL('../../../fixtures/tls/cert.pem', import.meta.url))
  const key = fileURLToPath(new URL('../../../fixtures/tls/key.pem', import.meta.url))
  expect(refusal({ SVC_TLS_CERT: cert, SVC_TLS_KEY: '/nowhere' })).toContain('the file cannot be read.')
  expect(refusal({ SVC_TLS_CERT: key, SVC_TLS_KEY: key })).toContain('give a PEM certificate and the PEM key')
  expect(readConfig({}, { tlsCert: cert, tlsKey: key }, program).tls?.cert).toContain('BEGIN CERTIFICATE')
})

test.each([
  ['SVC_PORT', 'abc', 'SVC_PORT="abc" cannot be used: give a whole number from 0 to 65535.'],
  ['SVC_PORT', '65536', 'SVC_PORT="65536" cannot be used: give a whole number from 0 to 65535.'],
  ['SVC_PORT', '1e3', 'SVC_PORT="1e3" cannot be used: give a whole number from 0 to 65535.'],
  ['SVC_HOST', 'a b', 'SVC_HOST="a b" cannot be used: give an address to listen on, such as 127.0.0.1.'],
  ['SVC_BCRYPT_COST', '32', 'SVC_BCRYPT_COST="32" cannot be used: give a whole number from 4 to 31.'],
  ['SVC_PROJECT_CREATORS', 'some', 'SVC_PROJECT_CREATORS="some" cannot be used: give one of all, admins.'],
  ['SVC_REGISTRATION', 'shut', 'SVC_REGISTRATION="shut" cannot be used: give one of open, invite, closed.'],
  ['SVC_WORKSPACE_ROOT', ' ', 'SVC_WORKSPACE_ROOT=" " cannot be used: give the path of a folder.'],
])('refuses %s=%j in one line', (name, value, message) => {
  expect(refusal({ [name]: value })).toBe(message)
})

test('names a refused flag as it was typed', () => {
  expect(refusal({}, { port: '-1' })).toBe('--port="-1" cannot be used: give a whole number from 0 to 65535.')
})

test.each([
  ['linux', {}, '/u/.local/share/copse'],
  ['linux', { XDG_DATA_HOME: '/x' }, '/x/copse'],
  ['darwin', {}, '/u/Library/Application Support/Copse'],
] as const)('uses on %s with %j the platform’s data folder', (platform, env, folder) => {
  expect(defaultDataDir(env, platform, '/u')).toBe(folder)
})
