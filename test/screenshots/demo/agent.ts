import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { auditorSessions, coderSessions } from './sessions.ts'
import type { Step } from './session.ts'

/**
 * Stands for Claude Code in the demo: `agent.ts coder|auditor FOLDER` finds the session of its task by the title, notes
 * in FOLDER how often it was started, prints stream-json, and does what it says. `--version` answers a version.
 */
const [, , part = 'coder', folder = '.'] = process.argv
const title = process.env['SVC_TASK_TITLE'] ?? ''
let calls = 0

if (process.argv.includes('--version')) console.log('2.1.330 (Claude Code)')
else await work()

async function work(): Promise<void> {
  const sessions = (part === 'auditor' ? auditorSessions : coderSessions)[title] ?? [[{ say: `${title}: done.` }]]
  const counter = join(folder, `${part}-${title.replace(/\W+/g, '-')}`)
  const run = existsSync(counter) ? Number(readFileSync(counter, 'utf8')) : 0
  writeFileSync(counter, String(run + 1))
  say({ type: 'system', subtype: 'init', session_id: 'demo', cwd: process.cwd() })
  for (const step of sessions[Math.min(run, sessions.length - 1)] ?? []) await perform(step)
  const usage = { input_tokens: 48_200 + 9_100 * calls, output_tokens: 5_400 + 730 * calls }
  say({ type: 'result', subtype: 'success', is_error: false, result: '', total_cost_usd: 0.11 + calls * 0.06, usage })
}

async function perform(step: Step): Promise<void> {
  if ('say' in step) return speak({ type: 'text', text: step.say })
  if ('think' in step) return speak({ type: 'thinking', thinking: step.think })
  if ('read' in step) {
    const text = existsSync(step.read) ? readFileSync(step.read, 'utf8') : ''
    return call('Read', { file_path: resolve(step.read) }, text)
  }
  if ('search' in step) return call('Grep', { pattern: step.search }, step.found)
  if ('edit' in step) {
    writeFileSync(
      step.edit,
      readFileSync(step.edit, 'utf8').replace(step.from, () => step.to),
    )
    const input = { file_path: resolve(step.edit), old_string: step.from, new_string: step.to }
    return call('Edit', input, 'The file has been updated.')
  }
  if ('write' in step) {
    mkdirSync(dirname(step.write), { recursive: true })
    writeFileSync(step.write, step.text)
    return call('Write', { file_path: resolve(step.write), content: step.text }, 'File created.')
  }
  if ('run' in step) return call('Bash', { command: step.run }, step.output, step.fails)
  if ('commit' in step) {
    execFileSync('git', ['add', '--all'])
    execFileSync('git', ['commit', '--quiet', '--message', step.commit])
    return call('Bash', { command: `git commit -m "${step.commit}"` }, `[svc] ${step.commit}`)
  }
  if ('running' in step) {
    speak({ type: 'tool_use', id: `toolu_${calls}`, name: 'Bash', input: { command: step.running } })
    await new Promise(() => setInterval(() => undefined, 60_000))
    return
  }
  await judge(step.verdict, step.feedback)
}

async function judge(verdict: string, feedback: string): Promise<void> {
  const { SVC_API_URL = '', SVC_API_TOKEN = '', SVC_TASK_ID = '' } = process.env
  const answer = await fetch(`${SVC_API_URL}/api/v1/tasks/${SVC_TASK_ID}/verdict`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SVC_API_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ verdict, feedback }),
  })
  if (!answer.ok) throw new Error(`The verdict was refused: ${await answer.text()}`)
  call('mcp__copse__svc_submit_verdict', { verdict, feedback }, 'Noted.')
}

function call(name: string, input: object, output: string, fails = false): void {
  const id = `toolu_${(calls += 1)}`
  speak({ type: 'tool_use', id, name, input })
  const result = { type: 'tool_result', tool_use_id: id, content: output, is_error: fails }
  say({ type: 'user', session_id: 'demo', message: { content: [result] } })
}

function speak(content: object): void {
  say({ type: 'assistant', session_id: 'demo', message: { content: [content] } })
}

function say(event: object): void {
  process.stdout.write(`${JSON.stringify(event)}\n`)
}
