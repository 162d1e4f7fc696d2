import { expect, test } from 'vitest'
import { differingPart } from '../../../../src-renderer/features/agents/agent-settings-text.ts'

test('begins a long command where it differs from the one most like it', () => {
  const all = [
    'sh /srv/tools/agents/mend.sh',
    'sh /srv/tools/agents/write.sh --two',
    'sh /srv/tools/agents/write.sh --40',
  ]
  const others = (one: string) => all.filter((other) => other !== one)
  const cut = all.map((one) => differingPart(`${one} 1234567`, others(one)))
  expect(cut).toEqual(['…mend.sh 1234567', '…--two 1234567', '…--40 1234567'])
})

test('shows short and unlike commands whole, of equal ones the end', () => {
  expect(differingPart('sh scripts/a.sh', ['sh scripts/b.sh'])).toBe('sh scripts/a.sh')
  const long = 'python3 /srv/tools/agents/a-very-long-name.py'
  expect(differingPart(long, ['sh scripts/b.sh', ''])).toBe(long)
  expect(differingPart(long, [])).toBe(long)
  expect(differingPart(long, [long])).toBe('…a-very-long-name.py')
})
