/** Stands for an agent that prints: `flood.ts BYTES` says so many bytes of Claude Code's stream-json, as a busy session has them. */
const bytes = Number(process.argv[2])
const sentence =
  'export function plan(facts: Facts): Plan { return facts.map((one) => one.name) } // and so on, for a while; '
const text = sentence.repeat(20)
let printed = 0
let number = 0

/** False when the pipe is full. */
function say(event: object): boolean {
  const line = `${JSON.stringify(event)}\n`
  printed += line.length
  return process.stdout.write(line)
}

function sayStep(): boolean {
  const id = `toolu_${(number += 1)}`
  const words = { type: 'text', text: `${number} ${text}` }
  const call = { type: 'tool_use', id, name: 'Bash', input: { command: `cat file-${number}.ts` } }
  const output = `${number} ${number % 10 === 0 ? text.repeat(5) : text}`
  const result = { type: 'tool_result', tool_use_id: id, content: output }
  say({ type: 'assistant', session_id: 'flood', message: { content: number % 4 === 0 ? [words, call] : [call] } })
  return say({ type: 'user', session_id: 'flood', message: { content: [result] } })
}

function flood(): void {
  while (printed < bytes) if (!sayStep()) return void process.stdout.once('drain', flood)
  say({ type: 'result', subtype: 'success', is_error: false, session_id: 'flood', result: 'That was all.' })
}
flood()
