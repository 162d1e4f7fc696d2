import { expect, test } from 'vitest'
import { audienceMatches } from '../../../../src-main/domain/transition/audience.ts'

test('applies agent_only to agents and the system, user_only to people, and all to everyone', () => {
  const triggers = ['agent:1', 'system', 'user:ann']
  const covered = (audience: Parameters<typeof audienceMatches>[0]) =>
    triggers.filter((triggered_by) => audienceMatches(audience, triggered_by))
  expect(covered('agent_only')).toEqual(['agent:1', 'system'])
  expect(covered('user_only')).toEqual(['user:ann'])
  expect([covered('all'), covered(undefined)]).toEqual([triggers, triggers])
})
