import { expect, test } from 'vitest'
import { reachability } from '../../../../src-renderer/features/settings/app/reachability.ts'

test('distinguishes network access, and readable tokens from encrypted ones', () => {
  const said = (exposed: boolean, url: string | null) => {
    const { state, isReadable } = reachability({ exposed, url })
    return [state, isReadable]
  }
  expect(said(false, 'http://127.0.0.1:4870')).toEqual(['Off', false])
  expect(said(true, 'https://127.0.0.1:4870')).toEqual(['On, with TLS', false])
  // Bound to every address, it is still named by this machine's.
  expect(said(true, 'http://127.0.0.1:4870')).toEqual(['On, without TLS', true])
  expect(said(false, null)).toEqual(['Off', false])
})
