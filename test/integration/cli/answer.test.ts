import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Agent } from '../../../src-shared/contract/projects.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { writeAskingClaude } from '../../helpers/asking-claude.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startWorld } from './svc-process.ts'

test('shows an agent’s question and answers it by option or free text', async () => {
  await using repository = await createTestRepository()
  await using world = await startWorld()
  const here = { cwd: repository.path }
  await world.json(['project', 'add', '--name', 'Shop'], here)
  const questions = [{ question: 'Which colour?', options: [{ label: 'Blue' }, { label: 'Red' }] }]
  const folder = await mkdtemp(join(tmpdir(), 'copse-asking-'))
  try {
    const command = await writeAskingClaude(folder, [
      { tool_name: 'Bash', input: { command: 'npm publish' } },
      { tool_name: 'AskUserQuestion', input: { questions } },
    ])
    const agent = await world.json<Agent>([
      ...['agent', 'add', 'Asker', '--executor', 'claude-code', '--permissions', 'ask', '--command', command],
    ])
    expect(agent.config.permissions).toBe('ask')
    const task = await world.json<Task>(['task', 'create', 'Publish it'], here)
    const { ref } = task
    await world.svc(['task', 'claim', ref, '--agent', 'Asker'])
    const asked = (what: string) =>
      expect.poll(async () => (await world.svc(['task', 'answer', ref])).stdout, { timeout: 100_000 }).toContain(what)
    await asked('? Wants to run npm publish\nnpm publish\n  allow  Allow\n')
    const wrong = await world.svc(['task', 'answer', ref, 'perhaps'])
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain('Use allow, allow_always, reject')
    expect(await world.svc(['task', 'answer', ref, 'reject', '--text', 'Not yet'])).toMatchObject({ code: 0 })
    await asked(`? Which colour?\n  1  Blue\n  2  Red\nsvc task answer ${ref} <option> --text "your words"`)
    expect(await world.svc(['task', 'answer', ref, 'red'])).toMatchObject({ code: 0 })
    const followed = await world.svc(['task', 'logs', ref, '-f'])
    expect(followed.stdout).toContain('Deny: Not yet\n')
    expect(followed.stdout).toContain('deny (A person refused this: Not yet) allow{"Which colour?":"Red"}')
    const over = await world.svc(['task', 'answer', ref, 'allow'])
    expect(over).toMatchObject({ code: 1, stderr: expect.stringContaining("isn't asking anything") as string })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
