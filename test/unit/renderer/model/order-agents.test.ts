import { expect, test } from 'vitest'
import { canRun, orderAgents, type AgentFacts } from '../../../../src-renderer/model/order-agents.ts'
import type { AgentId } from '../../../../src-shared/contract/ids.ts'

const agents = ['Collider', 'Mender', 'Slowpoke', 'Writer'].map((name) => ({ id: name.toLowerCase() as AgentId, name }))
const order = (facts: Partial<AgentFacts>) =>
  orderAgents(agents.toReversed(), { usedHere: [], usedInProject: [], found: new Map(), ...facts })
    .map(({ name }) => name)
    .join(' ')
const signedIn = { installed: true, signed_in: true }
const signedOut = { installed: true, signed_in: false }
const missing = { installed: false, signed_in: null }

test('orders agents by what this device did with them, then the project, then what is known, then the name', () => {
  expect(order({})).toBe('Collider Mender Slowpoke Writer')
  expect(order({ found: new Map([['slowpoke', signedIn]]) })).toBe('Slowpoke Collider Mender Writer')
  const known = { found: new Map([['slowpoke', signedIn]]), usedInProject: ['writer', 'mender'] }
  expect(order(known)).toBe('Writer Mender Slowpoke Collider')
  expect(order({ ...known, usedHere: ['collider'] })).toBe('Collider Writer Mender Slowpoke')
})

test('puts agents last that can’t run', () => {
  const found = new Map(Object.entries({ collider: missing, writer: signedOut }))
  expect(order({ found, usedHere: ['writer'], usedInProject: ['collider'] })).toBe('Mender Slowpoke Writer Collider')
  expect([undefined, signedIn, { installed: true, signed_in: null }, signedOut, missing].map(canRun)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ])
})
