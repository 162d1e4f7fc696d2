import fc from 'fast-check'
import { expect, test } from 'vitest'
import { agentLetters, initials, projectLetters } from '../../../../src-renderer/formatters/initials.ts'

const named = fc
  .uniqueArray(fc.record({ id: fc.uuid(), name: fc.string({ minLength: 1, maxLength: 12 }) }), {
    selector: ({ id }) => id,
    maxLength: 40,
  })
  .filter((items) => items.every(({ name }) => name.trim() !== ''))

test.for([
  ['projects', projectLetters],
  ['agents', agentLetters],
] as const)('gives %s letters that differ, and keeps them when others come', ([, letters]) => {
  fc.assert(
    fc.property(named, (items) => {
      const given = letters(items)
      expect(new Set([...given.values()].map((one) => one.toLowerCase())).size).toBe(items.length)
      const oldest = items.toSorted((one, other) => (one.id < other.id ? -1 : 1)).slice(0, items.length / 2)
      for (const [id, own] of letters(oldest)) expect(given.get(id)).toBe(own)
      expect(letters(items.toReversed())).toEqual(given)
    }),
  )
})

test('uses one letter for a project and two where that is taken', () => {
  const projects = ['docs-site', 'demo', 'Docs', 'shop', 'docs-site'].map((name, index) => ({ id: `${index}`, name }))
  expect([...projectLetters(projects).values()]).toEqual(['D', 'De', 'Do', 'S', 'Dc'])
})

test('leaves an agent its initials unless an older one has them', () => {
  const agents = ['Claude Code', 'Collider', 'Codex', 'Cl'].map((name, index) => ({ id: `${index}`, name }))
  expect([...agentLetters(agents).values()]).toEqual(['Cl', 'Co', 'Cd', 'C2'])
  expect(agentLetters([{ id: '1', name: 'Collider' }]).get('1')).toBe(initials('Collider', 'agent'))
})
