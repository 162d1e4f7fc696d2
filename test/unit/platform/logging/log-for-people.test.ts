import { expect, test } from 'vitest'
import { formatLogLine } from '../../../../src-main/platform/logging/log-for-people.ts'

test('prints time, level, message, context and the origin of an error', () => {
  const line = { level: 40, time: 0, module: 'task-events', task_id: 't', exit_code: null, msg: 'an execution ended' }
  const shown = formatLogLine(`${JSON.stringify(line)}\n`)
  expect(shown).toMatch(/^\d\d:\d\d:\d\d warn an execution ended task_id="t" exit_code=null\n$/)
  const failed = { ...line, level: 50, err: 'Error: no\n    at here' }
  expect(formatLogLine(JSON.stringify(failed))).toMatch(/ error an execution ended .*\nError: no\n {4}at here\n$/)
  expect(formatLogLine('not of ours\n')).toBe('not of ours\n')
})
