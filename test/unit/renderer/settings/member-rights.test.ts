import { expect, test } from 'vitest'
import { memberRights } from '../../../../src-renderer/features/settings/project/member-rights.ts'
import { ProjectId, UserId } from '../../../../src-shared/contract/ids.ts'
import type { Member, MemberRole } from '../../../../src-shared/contract/members.ts'

const [ada, grace, linus] = ['1', '2', '3'].map((end) => UserId.parse(`01990011-0000-7000-8000-00000000000${end}`))
if (!ada || !grace || !linus) throw new Error('Three people are needed.')
const project_id = ProjectId.parse('01990001-0000-7000-8000-000000000001')
const member = (user_id: UserId, role: MemberRole): Member => ({
  project_id,
  user_id,
  role,
  email: 'a@b.c',
  handle: 'a',
  display_name: 'A',
})
const owned = { owner_id: ada }

test('lets owners and admins manage members, and no one else', () => {
  const members = [member(ada, 'owner'), member(grace, 'member')]
  const manages = (id: UserId, is_admin = false) => memberRights(members, owned, { id, is_admin }).manages
  expect([manages(ada), manages(grace), manages(linus), manages(linus, true)]).toEqual([true, false, false, true])
  expect(memberRights(members, owned, null).manages).toBe(false)
})

test('keeps the last owner of an owned project', () => {
  const [one, other, worker] = [member(ada, 'owner'), member(grace, 'owner'), member(linus, 'member')]
  expect(memberRights([one, worker], owned, null).mustStay(one)).toContain('needs an owner')
  expect(memberRights([one, worker], owned, null).mustStay(worker)).toBeNull()
  expect(memberRights([one, other], owned, null).mustStay(one)).toBeNull()
  expect(memberRights([one], { owner_id: null }, null).mustStay(one)).toBeNull()
})
