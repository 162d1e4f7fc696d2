import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { executorInfos } from '../../../../src-shared/contract/executor-profiles.ts'
import type { AgentProgram, Variables } from '../../../../src-main/agents/agent/agent-profile.ts'
import { detectAgent } from '../../../../src-main/agents/agent/detect-agent.ts'
import { codex } from '../../../../src-main/agents/codex/definition.ts'
import { copilot } from '../../../../src-main/agents/copilot/definition.ts'
import { gemini } from '../../../../src-main/agents/gemini/definition.ts'
import { opencode } from '../../../../src-main/agents/opencode/definition.ts'
import { qwen } from '../../../../src-main/agents/qwen/definition.ts'

const signal = new AbortController().signal

let home = ''
let env: Variables = {}
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'copse-detect-'))
  env = { HOME: home, PATH: join(home, 'bin') }
})
afterEach(async () => {
  await rm(home, { recursive: true, force: true })
})

async function put(path: string, text = '{}', mode = 0o600): Promise<string> {
  const whole = join(home, path)
  await mkdir(dirname(whole), { recursive: true })
  await writeFile(whole, text, { mode })
  return whole
}

const programs = [codex, opencode, gemini, copilot, qwen].map(({ program }): [string, AgentProgram] => [
  executorInfos[program.executor].name,
  program,
])

test.each(programs)('finds %s on PATH with its version, or says how to install it', async (_name, program) => {
  const missing = await detectAgent(program, env, { signal })
  expect(missing).toMatchObject({ installed: false, path: null, version: null, hint: program.installHint })
  const path = await put(`bin/${program.program}`, `#!/bin/sh\necho '${program.program} 1.2.3'\n`, 0o755)
  const found = await detectAgent(program, env, { signal })
  expect(found).toMatchObject({ executor: program.executor, installed: true, path, version: '1.2.3' })
})

test.each<[AgentProgram, string, Record<string, string>, boolean | null]>([
  [codex.program, '', {}, false],
  [codex.program, '.codex/auth.json', {}, true],
  [codex.program, '.codex/config.toml', {}, null],
  [codex.program, '', { OPENAI_API_KEY: 'k' }, true],
  [opencode.program, '', {}, null],
  [opencode.program, '.local/share/opencode/auth.json', {}, true],
  [gemini.program, '', {}, false],
  [gemini.program, '.gemini/oauth_creds.json', {}, true],
  [gemini.program, '.gemini/.env', {}, null],
  [gemini.program, '', { GEMINI_API_KEY: 'k' }, true],
  [gemini.program, '', { GEMINI_API_KEY: '' }, false],
  [copilot.program, '', {}, null],
  [copilot.program, '', { GH_TOKEN: 'k' }, true],
  [qwen.program, '', {}, false],
  [qwen.program, '.qwen/oauth_creds.json', {}, true],
])('reports the sign-in as far as it is known: %o with %s and %o', async (program, file, more, signed) => {
  await put(`bin/${program.program}`, '#!/bin/sh\necho 1.2.3\n', 0o755)
  if (file !== '') await put(file)
  const found = await detectAgent(program, { ...env, ...more }, { signal })
  expect(found).toMatchObject({ signed_in: signed, hint: signed === false ? program.signInHint : null })
})

test.each<[string, string, boolean | null]>([
  ['its own word that it is', 'echo Logged in using ChatGPT >&2', true],
  ['its own word that it is not', 'echo Not logged in >&2; exit 1', false],
  ['a word that says nothing', 'echo what?', true],
])('reads from %s whether Codex is signed in', async (_what, script, signed_in) => {
  await put('.codex/auth.json')
  await put('bin/codex', `#!/bin/sh\nif [ "$1" = login ]; then ${script}; else echo codex 1.2.3; fi\n`, 0o755)
  expect(await detectAgent(codex.program, env, { signal })).toMatchObject({ installed: true, signed_in })
})

test('asks the agent’s own program with its own settings', async () => {
  const command = await put(
    'elsewhere/codex',
    '#!/bin/sh\nif [ "$1" = login ]; then echo "Logged in to $CODEX_HOME"; else echo codex 2.0.0; fi\n',
    0o755,
  )
  const config = { command, env: { CODEX_HOME: join(home, 'work') } }
  expect(await detectAgent(codex.program, env, { signal, config })).toMatchObject({
    path: command,
    version: '2.0.0',
    signed_in: true,
  })
  expect(await detectAgent(codex.program, env, { signal })).toMatchObject({ installed: false })
})
