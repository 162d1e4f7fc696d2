import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { createScripts } from '../../../../src-main/hooks/scripts/run-script.ts'
import { createProcessBeacon } from '../../../helpers/process-beacon.ts'

test('ends exactly the processes with the marker', async () => {
  await using beacon = await createProcessBeacon()
  const scripts = createScripts()
  const log = { write: () => Promise.resolve(), close: () => Promise.resolve() }
  const done = new AbortController()
  const run = (name: string, processMarker: string) =>
    scripts.run(
      {
        command: beacon.hold(name, 'sleep 1000 & sleep 1000'),
        cwd: tmpdir(),
        env: {},
        timeout_ms: 60_000,
        log,
        processMarker,
      },
      { signal: done.signal },
    )
  const mark = randomUUID()
  const marked = run('marked', mark)
  const other = run('other', randomUUID())
  await Promise.all([beacon.alive('marked'), beacon.alive('other')])
  await scripts.reap(mark)
  await beacon.gone('marked')
  expect((await marked).exit_code).not.toBe(0)
  done.abort()
  await beacon.gone('other')
  // 130: its own signal cancelled it, so the sweep had left it alone.
  expect((await other).exit_code).toBe(130)
})
