import { describe, expect, test } from 'vitest'
import { CliError } from '../../../src-main/cli/cli-error.ts'
import { pick, shortId } from '../../../src-main/cli/pick.ts'

const first = { id: '01940000-aaaa-7000-8000-0000deadbeef', title: 'First', isName: true }
const second = { id: '01940000-bbbb-7000-8000-0000deadbee0', title: 'Second', isName: true }
const items = [first, second]

function refusal(text: string): CliError {
  try {
    pick('project', items, text)
  } catch (error) {
    if (error instanceof CliError) return error
    throw error
  }
  throw new Error(`${text} was not refused`)
}

describe('a text names an item by', () => {
  test.each([
    ['its id', first.id],
    ['its id without dashes, in capitals', first.id.replaceAll('-', '').toUpperCase()],
    ['the last digits, as the app shows them', shortId(first.id)],
    ['fewer of the last digits', 'beef'],
    ['the beginning of its id', '01940000-aa'],
    ['its name, however it is written', 'FIRST'],
  ])('%s', (_what, text) => {
    expect(pick('project', items, text)).toBe(first)
  })
})

test('lists the matches in a usage error if there are several', () => {
  expect(refusal('0194')).toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/deadbeef \(First\), .*Second/) as string,
  })
})

test('lists what there is if nothing matches', () => {
  expect(refusal('Third')).toMatchObject({ exitCode: 1, code: 'not_found' })
  expect(refusal('Third').message).toContain('deadbeef (First)')
  expect(refusal('').code).toBe('not_found')
})

test('shows as many digits as tell an ID from the others that are shown', () => {
  const twin = '01940000-cccc-7000-8000-0001deadbeef'
  const shown = [first, second, { id: twin }]
  expect(shortId(first.id)).toBe('deadbeef')
  expect(shown.map(({ id }) => shortId(id, shown))).toEqual(['0deadbeef', '0deadbee0'.slice(1), '1deadbeef'])
})
