import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { present } from '../../helpers/present.ts'
import { expect, test } from 'vitest'
import { isAlive } from '../../../src-main/platform/process/process.ts'
import { filterByEnvironment, readProcessTable } from '../../../src-main/platform/process/process-table.ts'
import type { ExecutionRun } from '../../../src-main/ports/executors.ts'
import { createExecutors } from '../../../src-main/agents/create-executors.ts'
import { createLogs } from '../../../src-main/logs/create-logs.ts'
import { ExecutionId, ProjectId, TaskId } from '../../../src-shared/contract/ids.ts'

const project_id = ProjectId.parse('0197a000-0000-7000-8000-000000000001')
const task_id = TaskId.parse('0197a000-0000-7000-8000-000000000002')
const { signal } = new AbortController()
let count = 0

/** A command in a terminal, and what it shows. */
async function startInTerminal(command: string, more: Partial<ExecutionRun> = {}) {
  const dir = await mkdtemp(join(tmpdir(), 'copse-terminal-'))
  const logs = createLogs({ dir: join(dir, 'logs') })
  const execution_id = ExecutionId.parse(`0197a000-0000-7000-8000-${String(++count).padStart(12, '0')}`)
  const log = await logs.openAgent({
    project_id,
    task_id,
    execution_id,
    redact: (text) => text.replaceAll('hush', '***'),
  })
  const running = await createExecutors().start(
    'command',
    {
      execution_id,
      task_id,
      cwd: dir,
      prompt: 'Say hello',
      env: { SVC_EXECUTION_ID: execution_id },
      config: { command, terminal: true },
      mcp: null,
      session_id: null,
      timeout_seconds: null,
      log,
      ...more,
    },
    { signal },
  )
  const name = `agent-${execution_id}.raw.log`
  return {
    running,
    execution_id,
    /** Waits until this text is shown; returns everything shown by then. */
    sees: async (text: string | RegExp): Promise<string> => {
      let seen = ''
      for (let offset = 0; ;) {
        const slice = await logs.read(task_id, name, offset, 1_000_000, { ms: 25_000, signal })
        if (!slice) throw new Error('There is no raw log.')
        seen += Buffer.from(slice.data_base64, 'base64').toString()
        offset = slice.next_offset
        if (typeof text === 'string' ? seen.includes(text) : text.test(seen)) return seen
        if (slice.complete) throw new Error(`It ended without ${String(text)}: ${JSON.stringify(seen)}`)
      }
    },
    [Symbol.asyncDispose]: async () => {
      await running.stop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

test.concurrent('gives the program a terminal of the requested size', async () => {
  await using its = await startInTerminal('tty -s && echo "a terminal, $TERM"; stty size; read -r go; stty size')
  await its.sees('a terminal, xterm-256color')
  await its.sees('32 120')
  its.running.resize?.(90, 25)
  await its.running.input('\r')
  await its.sees('25 90')
  expect(await its.running.outcome).toMatchObject({ ended: 'exited', exit_code: 0, conclusion: 'done' })
})

test.concurrent('passes keys as they are typed, before the line is complete', async () => {
  await using its = await startInTerminal('printf "Name: "; read -r name; printf "%s!" "hello $name"')
  await its.sees(/Name: $/)
  await its.running.input('Ad')
  await its.sees(/Name: Ad$/)
  await its.running.input('a\r')
  await its.sees('hello Ada!')
  expect((await its.running.outcome).message).toBe('hello Ada!')
})

test.concurrent('interrupts the program with Ctrl-C', async () => {
  await using its = await startInTerminal(
    `trap 'echo interrupted; exit 7' INT; echo ready; while :; do sleep 0.05; done`,
  )
  await its.sees('ready')
  await its.running.input('\u0003')
  expect(await its.running.outcome).toMatchObject({ ended: 'exited', exit_code: 7 })
  await its.sees('interrupted')
})

test.concurrent('passes the prompt by file, not as an argument', async () => {
  const search = `tr '\\0' ' ' < /proc/$$/cmdline | grep -c 'Say [h]ello'; true`
  await using its = await startInTerminal(`cat "$SVC_PROMPT_FILE"; echo; ${search}`)
  await its.sees('Say hello')
  expect((await its.running.outcome).message).toBe('0')
})

test.concurrent('hides a secret, whether or not its line is complete', async () => {
  await using its = await startInTerminal('echo "a hush b"; printf "c hush d"; read -r go')
  const seen = await its.sees(/c \S+ d$/)
  expect(seen).toContain('a *** b')
  expect(seen).not.toContain('hush')
})

test.concurrent('ends a shell that ignores SIGTERM, with all its processes', async () => {
  await using its = await startInTerminal(
    `trap '' TERM; setsid sleep 987 & (setsid sh -c 'trap "" TERM HUP; sleep 988') & echo "begun"; exec sh -i`,
  )
  await its.sees('begun')
  await its.running.stop()
  expect(await its.running.outcome).toMatchObject({ ended: 'stopped' })
  expect(await isAlive(present(its.running.process))).toBe(false)
  await expectNone(its.execution_id)
})

test.concurrent('ends what still holds the terminal after a natural end', async () => {
  await using its = await startInTerminal('sleep 986 & echo done')
  expect(await its.running.outcome).toMatchObject({ ended: 'exited', exit_code: 0 })
  await expectNone(its.execution_id)
  expect(() => its.running.resize?.(80, 24)).not.toThrow()
})

test.concurrent('shows a flood to its last line', async () => {
  await using its = await startInTerminal('seq 1 200000; echo "the very end"')
  expect((await its.running.outcome).message).toBe('the very end')
  expect(await its.sees('the very end')).toContain('\n199999\r\n')
})

test.concurrent('is stopped at its time limit', async () => {
  await using its = await startInTerminal('echo waits; exec sleep 985', { timeout_seconds: 1 })
  expect(await its.running.outcome).toMatchObject({
    ended: 'timed_out',
    message: 'Stopped at the time limit of 1 s.',
  })
})

/** Asserts that no process of this execution is left. */
async function expectNone(execution_id: string): Promise<void> {
  const left = await filterByEnvironment(await readProcessTable(), `SVC_EXECUTION_ID=${execution_id}`)
  expect(left.filter((row) => !row.zombie)).toEqual([])
}
