import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** Stands for Claude Code where only the harness is tried: takes a prompt on stdin, asks the model, writes the files. */
interface Block {
  readonly type: string
  readonly id?: string
  readonly text?: string
  readonly input?: { readonly file_path: string; readonly content: string }
}

/** From the service it comes as an event on a line, by hand as all there is. */
async function readPrompt(): Promise<string> {
  const lines: string[] = []
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.startsWith('{"type"')) {
      const event = JSON.parse(line) as { message: { content: { text: string }[] } }
      return event.message.content[0]?.text ?? ''
    }
    lines.push(line)
  }
  return lines.join('\n')
}

const text = { type: 'string' }
const write = { name: 'Write', input_schema: { type: 'object', properties: { file_path: text, content: text } } }
const messages: object[] = [{ role: 'user', content: await readPrompt() }]
for (;;) {
  const response = await fetch(`${process.env['ANTHROPIC_BASE_URL']}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': process.env['ANTHROPIC_API_KEY'] ?? '' },
    body: JSON.stringify({ model: 'small', max_tokens: 1000, messages, tools: [write] }),
  })
  const { content } = (await response.json()) as { content: readonly Block[] }
  messages.push({ role: 'assistant', content })
  const calls = content.filter(({ type }) => type === 'tool_use')
  if (calls.length === 0) break
  for (const { input } of calls) if (input) writeFileSync(input.file_path, input.content)
  messages.push({
    role: 'user',
    content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'Written.' })),
  })
}
process.stdout.write(`${JSON.stringify({ type: 'result', subtype: 'success', is_error: false, result: 'Done.' })}\n`)
process.exit(0)
