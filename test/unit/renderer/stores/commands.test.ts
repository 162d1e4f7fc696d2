import { afterEach, expect, test, vi } from 'vitest'
import { useCommands } from '../../../../src-renderer/stores/commands.ts'
import { withService } from '../renderer-app.ts'

afterEach(() => void vi.unstubAllGlobals())

/** A key press with the fields that bindings read. */
function press(key: string): KeyboardEvent {
  const event = { key, code: `Key${key.toUpperCase()}`, getModifierState: () => false, preventDefault: () => undefined }
  return event as unknown as KeyboardEvent
}

test('ends a key sequence after a match', () => {
  const { used: commands, end } = withService({}, useCommands)
  const ran: string[] = []
  const on = (id: string) => ({ accepts: () => true, run: () => void ran.push(id) })
  commands.register({ 'go-all': on('go-all'), 'go-agents': on('go-agents'), assign: on('assign') })
  for (const key of ['g', 'p', 'a', 'g', 'a', 'a']) commands.onKey(press(key))
  expect(ran).toEqual(['go-all', 'assign', 'go-agents', 'assign'])
  end()
})
