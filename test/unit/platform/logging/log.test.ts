import { expect, it } from 'vitest'
import { createLogger } from '../../../../src-main/platform/logging/log.ts'

it('logs JSON lines without secrets at any depth', () => {
  const lines: string[] = []
  const log = createLogger({ level: 'info', stream: { write: (line) => void lines.push(line) } })
  const secrets = {
    token: 'S1',
    request: { password: 'S2', headers: { authorization: 'S3' }, a: { b: { env: 'S4' } } },
  }
  log.child({ module: 'test', caller: { of: { token: 'S5' } } }).info(secrets, 'called')
  log.debug('not at this level')
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ module: 'test', msg: 'called', token: '[redacted]' })
  expect(lines[0]).not.toMatch(/S\d/)
})

it('logs the stack and causes of an error, without its other fields', () => {
  const lines: string[] = []
  const log = createLogger({ level: 'info', stream: { write: (line) => void lines.push(line) } })
  const statement = Object.assign(new Error('Failed query: insert\nparams: S1'), { query: 'insert', params: ['S1'] })
  const cause = new Error('disk full')
  const error = Object.assign(new Error(`No with Bearer svc_${'a'.repeat(42)}1`, { cause: statement }), {
    spawnargs: ['S2'],
    code: 'no_way',
  })
  statement.cause = cause
  log.error({ err: error }, 'failed')
  const { err } = JSON.parse(lines[0] ?? '') as { err: string }
  expect(err).toContain('No with Bearer [redacted]')
  expect(err).toContain('(no_way)')
  expect(err).toContain('caused by: Error: a statement failed [redacted]')
  expect(err).toContain('caused by: Error: disk full')
  expect(lines[0]).not.toMatch(/S\d|aaaa/)
  log.error({ err: { token: 'S3' } }, 'no error')
  expect(lines[1]).toContain("a thrown object that isn't an error")
  expect(lines[1]).not.toContain('S3')
})
