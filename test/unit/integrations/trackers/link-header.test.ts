import { expect, test } from 'vitest'
import { readLinks } from '../../../../src-main/integrations/forges/link-header.ts'

test.each<[string | null, Record<string, string>]>([
  [null, {}],
  ['', {}],
  [
    '<https://a.test/x?page=2>; rel="next", <https://a.test/x?page=5>; rel="last"',
    { next: 'https://a.test/x?page=2', last: 'https://a.test/x?page=5' },
  ],
  ['<https://a.test/x?a=1,2&b=;>; rel=next', { next: 'https://a.test/x?a=1,2&b=;' }],
  ['</x?page=2>;title="one, two";rel="prev next"', { prev: '/x?page=2', next: '/x?page=2' }],
  ['<https://a.test/1>; REL="NEXT", <https://a.test/2>; rel="next"', { next: 'https://a.test/1' }],
  ['<https://a.test/1>; title="rel"', {}],
  ['nonsense; rel="next"', {}],
])('%s', (header, links) => {
  expect(Object.fromEntries(readLinks(header))).toEqual(links)
})
