import { expect, test } from 'vitest'
import { createQuitGuard, type LeavingQuestion } from '../../../src-main/desktop/quit-guard.ts'
import type { DesktopSettings } from '../../../src-shared/contract/desktop.ts'

function desk(options: { atWork: number; platform?: NodeJS.Platform; settings?: Partial<DesktopSettings> }) {
  const happened: string[] = []
  const questions: LeavingQuestion[] = []
  let settings: DesktopSettings = { whenClosed: 'ask', whenQuit: 'ask', updates: 'stable', ...options.settings }
  let answer: (given: { button: number; checked: boolean }) => void = () => undefined
  const leaving = createQuitGuard({
    platform: options.platform ?? 'linux',
    atWork: () => options.atWork,
    settings: () => settings,
    remember: (change) => (settings = { ...settings, ...change }),
    ask: (question) => {
      questions.push(question)
      return new Promise((resolve) => (answer = resolve))
    },
    hide: () => happened.push('hide'),
    quit: () => happened.push('quit'),
  })
  return {
    leaving,
    happened,
    questions,
    settings: () => settings,
    answer: async (button: number, checked = false) => {
      answer({ button, checked })
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

test('closes and quits without a question when no agent works', () => {
  const { leaving, questions } = desk({ atWork: 0 })
  expect([leaving.mayClose(), leaving.mayQuit(), questions.length]).toEqual([true, true, 0])
})

test('asks once on closing while agents run, keeps them in the tray, and remembers it', async () => {
  const one = desk({ atWork: 2 })
  expect(one.leaving.mayClose()).toBe(false)
  expect(one.leaving.mayClose()).toBe(false)
  expect(one.questions.map(({ message }) => message)).toEqual(['2 agents are running.'])
  await one.answer(0)
  expect([one.happened, one.settings().whenClosed]).toEqual([['hide'], 'tray'])
  expect(one.leaving.mayClose()).toBe(false)
  expect([one.happened, one.questions.length]).toEqual([['hide', 'hide'], 1])
})

test('asks no second time after “quit” on closing', async () => {
  const one = desk({ atWork: 1 })
  one.leaving.mayClose()
  expect(one.questions[0]?.message).toBe('1 agent is running.')
  await one.answer(1)
  expect([one.happened, one.settings().whenClosed]).toEqual([['quit'], 'quit'])
  expect([one.leaving.mayClose(), one.leaving.mayQuit()]).toEqual([true, true])
})

test('does not ask at the quit that follows a remembered choice', () => {
  const { leaving, questions } = desk({ atWork: 1, settings: { whenClosed: 'quit' } })
  expect([leaving.mayClose(), leaving.mayQuit(), questions.length]).toEqual([true, true, 0])
})

test('changes nothing on cancel and asks again next time', async () => {
  const one = desk({ atWork: 1 })
  one.leaving.mayClose()
  await one.answer(2)
  one.leaving.mayClose()
  expect([one.happened, one.settings().whenClosed, one.questions.length]).toEqual([[], 'ask', 2])
})

test('asks on quitting while agents run, and keeps them, ends them, or always ends them', async () => {
  const one = desk({ atWork: 1, settings: { whenClosed: 'tray' } })
  expect(one.leaving.mayQuit()).toBe(false)
  await one.answer(1)
  expect([one.happened, one.settings().whenQuit]).toEqual([['hide'], 'ask'])
  one.leaving.mayQuit()
  await one.answer(0, true)
  expect([one.happened, one.settings().whenQuit]).toEqual([['hide', 'quit'], 'end'])
  expect(one.leaving.mayQuit()).toBe(true)
})

test('closes its windows when it quits, even if closing would keep them', () => {
  const { leaving, happened } = desk({ atWork: 1, settings: { whenClosed: 'tray', whenQuit: 'end' } })
  expect([leaving.mayQuit(), leaving.mayClose(), happened]).toEqual([true, true, []])
})

test('closes the last window on macOS without a question', () => {
  const { leaving, happened, questions } = desk({ atWork: 1, platform: 'darwin', settings: { whenClosed: 'quit' } })
  expect([leaving.mayClose(), happened, questions.length]).toEqual([false, ['hide'], 0])
})

test('asks nothing at the end of the session or at an update', () => {
  const { leaving, questions } = desk({ atWork: 3 })
  leaving.allowQuit()
  expect([leaving.mayQuit(), leaving.mayClose(), questions.length]).toEqual([true, true, 0])
})
