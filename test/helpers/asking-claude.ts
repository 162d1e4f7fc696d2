import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A call that a stand-in for Claude Code requests. */
export interface ClaudeRequest {
  readonly tool_name: string
  readonly input: Readonly<Record<string, unknown>>
}

/**
 * Writes a program that speaks Claude Code's stream-json: it says what it is to say, prints each call, asks for permission, and prints the
 * answers at the end. Give its path to an agent of the kind claude-code.
 */
export async function writeAskingClaude(
  folder: string,
  requests: readonly ClaudeRequest[],
  says: readonly string[] = [],
): Promise<string> {
  const path = join(folder, 'claude')
  const lines = [
    `#!${process.execPath}`,
    // Parsed, because a literal's `__proto__` is no key.
    `const requests = JSON.parse(${JSON.stringify(JSON.stringify(requests))})`,
    `const says = ${JSON.stringify(says)}`,
    `const answers = []`,
    `const say = (event) => process.stdout.write(JSON.stringify({ session_id: 's1', ...event }) + '\\n')`,
    `const speak = (content) => say({ type: 'assistant', message: { content: [content] } })`,
    `const next = () => {`,
    `  const at = answers.length`,
    `  const asked = requests[at]`,
    `  for (const text of says.splice(0)) speak({ type: 'text', text })`,
    `  if (!asked) {`,
    `    speak({ type: 'text', text: 'Answered: ' + answers.join(' ') })`,
    `    return say({ type: 'result', subtype: 'success', is_error: false, result: 'x' })`,
    `  }`,
    `  speak({ type: 'tool_use', id: 'toolu_' + at, name: asked.tool_name, input: asked.input })`,
    `  say({ type: 'control_request', request_id: 'r' + at, request: { subtype: 'can_use_tool', ...asked } })`,
    `}`,
    `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {`,
    `  const message = JSON.parse(line)`,
    `  if (message.type === 'control_response') {`,
    `    const { behavior, message: why, updatedInput } = message.response.response`,
    `    answers.push(behavior + (why ? ' (' + why + ')' : '') + (updatedInput?.answers ? JSON.stringify(updatedInput.answers) : ''))`,
    `  }`,
    `  next()`,
    `})`,
  ]
  await writeFile(path, lines.join('\n'), { mode: 0o755 })
  return path
}
