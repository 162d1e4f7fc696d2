/**
 * Stands for an agent that prints: `flood.ts BYTES [BYTES_PER_SECOND]` says so many bytes of Claude Code's stream-json,
 * as a busy session has them, as fast as they are taken or at that pace.
 */
const bytes = Number(process.argv[2])
const pace = Number(process.argv[3]) || Infinity
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

function flood(due: number): boolean {
  while (printed < Math.min(bytes, due)) if (!sayStep()) return false
  if (printed >= bytes) end()
  return true
}

let ticking: NodeJS.Timeout | undefined
function end(): void {
  clearInterval(ticking)
  say({ type: 'result', subtype: 'success', is_error: false, session_id: 'flood', result: 'That was all.' })
}

function goOn(): void {
  if (!flood(Infinity)) process.stdout.once('drain', goOn)
}

const since = performance.now()
if (pace === Infinity) goOn()
else ticking = setInterval(() => flood(((performance.now() - since) / 1_000) * pace), 20)
