import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startJob } from '../../helpers/job.ts'

test('checks the sign-in of each agent with its own program and settings', async () => {
  await using job = await startJob()
  const { client } = job.running
  const command = join(job.repository.beside, 'codex')
  const script =
    'if [ "$1" != login ]; then echo codex 1.2.3; elif [ -n "$MINE" ]; then echo Logged in; else echo Not logged in; fi'
  await writeFile(command, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const folder = join(job.repository.beside, 'nothing')
  const out = { command, env: { CODEX_HOME: folder, OPENAI_API_KEY: '', CODEX_API_KEY: '' } }
  const make = (name: string, config: object) => client.call('agents.create', { name, executor: 'codex', config })
  const signedOut = await make('Out', out)
  const signedIn = await make('In', { ...out, env: { ...out.env, MINE: '1' } })
  const missing = await make('Missing', { command: join(folder, 'codex') })
  await client.call('agents.create', { name: 'Remote', executor: 'external' })
  const { items } = await client.call('agents.sign_ins', {})
  expect(items.map(({ agent_id, installed, signed_in }) => [agent_id, installed, signed_in])).toEqual(
    expect.arrayContaining([
      [signedOut.id, true, false],
      [signedIn.id, true, true],
      [missing.id, false, null],
    ]),
  )
  expect(items).toHaveLength(3)
  expect(items.find(({ agent_id }) => agent_id === signedOut.id)?.hint).toContain('`codex login`')
})
