// A `command` agent that works through a scripted model server (Messages): it plays the server's steps, and tells what
// its provider has counted after every request. MODEL_URL, MODEL_KEY and the price of its tokens come by variables.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const { MODEL_URL, MODEL_KEY, USD_PER_MTOK = '0', SVC_SESSION_ID } = process.env
const tell = (svc) => console.log(JSON.stringify({ svc }))
const tools = [{ name: 'Bash', input_schema: { type: 'object', properties: { command: { type: 'string' } } } }]
const messages = [{ role: 'user', content: readFileSync(0, 'utf8') }]
const total = { input_tokens: 0, output_tokens: 0, cost_usd: 0, turns: 0, model: 'metered' }

tell({ session_id: SVC_SESSION_ID ?? 'talk-1' })
for (;;) {
  const response = await fetch(`${MODEL_URL}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': MODEL_KEY },
    body: JSON.stringify({ model: 'metered', max_tokens: 1_000, tools, messages }),
  })
  const { content, usage } = await response.json()
  total.input_tokens += usage.input_tokens
  total.output_tokens += usage.output_tokens
  total.cost_usd = ((total.input_tokens + total.output_tokens) * Number(USD_PER_MTOK)) / 1_000_000
  total.turns += 1
  tell({ usage: total })
  for (const { text } of content) if (text) console.log(text)
  const calls = content.filter(({ type }) => type === 'tool_use')
  if (calls.length === 0) break
  const results = calls.map(({ id, input }) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: execFileSync('/bin/sh', ['-c', input.command], { encoding: 'utf8' }),
  }))
  messages.push({ role: 'assistant', content }, { role: 'user', content: results })
}
