import { expect, test } from 'vitest'
import { createPageRequests } from '../../../src-main/desktop/page-requests.ts'
import { pageMessages } from '../../../src-main/desktop/page-messages.ts'
import type { DesktopRequest } from '../../../src-shared/contract/desktop.ts'

const command = (id: string): DesktopRequest => ({ kind: 'command', id })

test('delivers requests once the page is loaded or reloaded', () => {
  const requests = createPageRequests()
  const heard: DesktopRequest[] = []
  requests.ask(command('first'))
  requests.ask(command('second'))
  requests.attach((request) => heard.push(request))
  requests.ask(command('third'))
  requests.detach()
  requests.ask(command('fourth'))
  expect(heard.map((request) => 'id' in request && request.id)).toEqual(['first', 'second', 'third'])
  requests.attach((request) => heard.push(request))
  expect(heard).toHaveLength(4)
})

test('accepts only the page’s own messages', () => {
  expect(pageMessages.change({ whenQuit: 'end', updates: undefined })).toEqual({ whenQuit: 'end' })
  for (const wrong of [null, { whenQuit: 'never' }, { paused: ['a'] }, { autoStart: 'yes' }])
    expect(() => pageMessages.change(wrong)).toThrow()
  expect(() =>
    pageMessages.preferences({ theme: 'dark', commands: [{ id: 'a', label: 'A'.repeat(100), keys: null }] }),
  ).toThrow()
  expect(() => pageMessages.step('force')).toThrow()
})
