import { expect, it } from 'vitest'
import { createLogger } from '../../../src-main/base/log.ts'

it('logs JSON lines without secrets, however deep they lie', () => {
  const lines: string[] = []
  const log = createLogger({ level: 'info', stream: { write: (line) => void lines.push(line) } })
  const secrets = {
    token: 'S1',
    request: { password: 'S2', headers: { authorization: 'S3' }, a: { b: { env: 'S4' } } },
  }
  log.child({ module: 'test' }).info(secrets, 'called')
  log.debug('not at this level')
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ module: 'test', msg: 'called', token: '[redacted]' })
  expect(lines[0]).not.toMatch(/S\d/)
})
