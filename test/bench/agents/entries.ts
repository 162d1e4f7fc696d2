/** Stands for an agent with much to say: `entries.ts ENTRIES` prints Claude Code's stream-json for so many entries. */
const count = Number(process.argv[2])
const words = 'The lease is renewed before it ends, so that no two workers send the same delivery. '

function* lines(): Generator<object> {
  for (let number = 0; number < count; number += 4) {
    const id = `toolu_${number}`
    const thought = { type: 'text', text: `${number}: ${words.repeat(number % 20 === 0 ? 5 : 1)}` }
    const call = { type: 'tool_use', id, name: 'Bash', input: { command: `npm test -- part-${number}` } }
    const result = { type: 'tool_result', tool_use_id: id, content: `ok ${number}\n`.repeat(3) }
    const passed = { type: 'text', text: `Part ${number} passes.` }
    yield { type: 'assistant', session_id: 'entries', message: { content: [thought, call] } }
    yield { type: 'user', session_id: 'entries', message: { content: [result] } }
    yield { type: 'assistant', session_id: 'entries', message: { content: [passed] } }
  }
  yield { type: 'result', subtype: 'success', is_error: false, session_id: 'entries', result: 'That was all.' }
}

const all = lines()
function goOn(): void {
  for (let next = all.next(); !next.done; next = all.next()) {
    if (process.stdout.write(`${JSON.stringify(next.value)}\n`)) continue
    process.stdout.once('drain', goOn)
    return
  }
}
goOn()
