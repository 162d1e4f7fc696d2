import { expect, test } from 'vitest'
import { chooseAddress, tokenFromEnvironment } from '../../../src-main/cli/address.ts'

const last = () => 'http://last:1'
const never = () => null

test('takes the address of the option, the environment, the last sign-in or the default, in this order', () => {
  const env = { SVC_API_URL: 'http://from-env:2/' }
  expect(chooseAddress('https://Option:3/x#y', env, last)).toBe('https://option:3')
  expect(chooseAddress(undefined, env, last)).toBe('http://from-env:2')
  expect(chooseAddress(undefined, {}, last)).toBe('http://last:1')
  expect(chooseAddress(undefined, {}, never)).toBe('http://127.0.0.1:4870')
  expect(chooseAddress(undefined, { SVC_PORT: '5000' }, never)).toBe('http://127.0.0.1:5000')
})

test.each(['copse', '127.0.0.1:4870', 'ftp://host', ''])('refuses %j as address and names the option', (text) => {
  expect(() => chooseAddress(text, {}, never)).toThrow('--url')
})

test('uses the token of an address for no other address', () => {
  const env = { SVC_API_URL: 'http://a:1', SVC_API_TOKEN: 'svc_x' }
  expect(tokenFromEnvironment('http://a:1', env)).toBe('svc_x')
  expect(tokenFromEnvironment('http://b:1', env)).toBeNull()
  expect(tokenFromEnvironment('http://b:1', { SVC_API_TOKEN: 'svc_x' })).toBe('svc_x')
  expect(tokenFromEnvironment('http://b:1', { SVC_API_TOKEN: '' })).toBeNull()
})
