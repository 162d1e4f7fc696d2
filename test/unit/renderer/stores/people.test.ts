import { afterEach, expect, test, vi } from 'vitest'
import { useAccounts } from '../../../../src-renderer/stores/people/accounts.ts'
import { usePeople } from '../../../../src-renderer/stores/people/people.ts'
import { useProjects } from '../../../../src-renderer/stores/project/projects.ts'
import { useSession } from '../../../../src-renderer/stores/base/session.ts'
import { ApiError } from '../../../../src-shared/contract/errors.ts'
import { ProjectId, UserId } from '../../../../src-shared/contract/ids.ts'
import { onService, type Reply } from '../renderer-app.ts'

const shop = ProjectId.parse('01990001-0000-7000-8000-000000000001')
const closed = ProjectId.parse('01990001-0000-7000-8000-000000000002')
const [ada, grace, alan] = [1, 2, 3].map((n) => UserId.parse(`01990002-0000-7000-8000-00000000000${n}`))
if (!ada || !grace || !alan) throw new Error('Three people are needed.')

const member = (user_id: UserId, display_name: string) =>
  ({ project_id: shop, user_id, role: 'member', email: 'x@copse.test', handle: 'x', display_name }) as const

afterEach(() => void vi.unstubAllGlobals())

function openStores() {
  vi.stubGlobal(
    'window',
    Object.assign(new EventTarget(), {
      location: { hash: '' },
      history: { state: null, replaceState: () => undefined },
    }),
  )

  const answers: Readonly<Record<string, (input: { project_id?: string }) => unknown>> = {
    'projects.list': () => ({ items: [shop, closed].map((id) => ({ id, name: id, repos: [] })) }),
    'system.get': () => ({ registered: true }),
    'auth.me': () => ({ id: ada, display_name: 'Ada' }),
    'members.list': ({ project_id }) => {
      if (project_id === closed) throw new ApiError({ code: 'not_a_member', message: 'Not yours.' })
      return { items: [member(grace as UserId, 'Grace')] }
    },
  }
  const reply: Reply = (name, input) => answers[name]?.(input)
  return onService(reply, () => ({
    people: usePeople(),
    accounts: useAccounts(),
    projects: useProjects(),
    session: useSession(),
  }))
}

test('shows visible people by name, also new ones, and no one after sign-out', async () => {
  const { people, accounts, projects, session } = openStores()
  const names = () => [ada, grace, alan].map((id) => people.face({ type: 'user', id: id as UserId }).name)
  await Promise.all([projects.load(), session.load()])
  await accounts.loadNames()
  expect(names()).toEqual(['Ada', 'Grace', 'Someone'])
  accounts.putMember({
    project_id: shop,
    user_id: alan as UserId,
    member: member(alan as UserId, 'Alan'),
    occurred_at: '2026-11-21T09:30:00.000Z',
  })
  expect(names()).toEqual(['Ada', 'Grace', 'Alan'])
  accounts.forget()
  expect(names()).toEqual(['Ada', 'Someone', 'Someone'])
})
