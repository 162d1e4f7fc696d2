import { describe, expect, it } from 'vitest'
import {
  createRedactor,
  RedactionPatternError,
  validateRedactionPattern,
} from '../../../../src-main/platform/text/redact.ts'
import { cpuTime } from '../../../helpers/cpu-time.ts'

const pat = `svc_${'Ab3-_'.repeat(8)}xyz`
const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLWhlcmU'

describe('secrets of a known shape', () => {
  const redact = createRedactor([])

  it.each([
    ['a personal access token', `token ${pat}.`, 'token [redacted].'],
    ['a JSON web token', `got ${jwt} back`, 'got [redacted] back'],
    ['a model provider key', 'key=sk-ant-api03-1234567890abcdefghij!', 'key=[redacted]!'],
    ['a forge token', 'ghp_0123456789abcdefghijABCDEFGHIJ0123', '[redacted]'],
    ['a cloud key', 'AKIAIOSFODNN7EXAMPLE', '[redacted]'],
    ['an authorization header', 'Authorization: Bearer abcd', 'Authorization: Bearer [redacted]'],
    [
      'a header in JSON in JSON',
      String.raw`"{\"authorization\":\"Basic Zm9vOmJhcg==\"}"`,
      String.raw`"{\"authorization\":\"Basic [redacted]\"}"`,
    ],
    ['a password in an address', 'https://me:pa55w0rd@host/x', 'https://me:[redacted]@host/x'],
    ['a live key of a payment service', `key sk_live_${'4eC39HqLyjWDarjt'}`, 'key [redacted]'],
    ['an app token of a chat', 'xapp-1-A0123456789-0123456789-abcdef', '[redacted]'],
    ['a token of a model hub', `hf_${'AbCdEfGhIj'.repeat(3)}1234`, '[redacted]'],
    [
      'a secret key of a cloud',
      'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY1',
      'aws_secret_access_key = [redacted]',
    ],
    ['a password that is assigned', 'DB_PASSWORD=hunter2 make', 'DB_PASSWORD=[redacted] make'],
    ['a password in JSON', '{"password": "hunter2"}', '{"password": "[redacted]"}'],
    [
      'a private key',
      'a\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nAAAAB3\n-----END OPENSSH PRIVATE KEY-----\nb',
      'a\n[redacted]\nb',
    ],
    ['a private key that is cut off', 'a -----BEGIN PRIVATE KEY-----\nMIIEvQ', 'a [redacted]'],
    ['a token in a query', 'http://h/mcp?token=abcdefgh12', 'http://h/mcp?token=[redacted]'],
  ])('hides %s', (_what, text, expected) => {
    expect(redact(text)).toBe(expected)
  })

  const prefixes =
    'svc_ svcd_ sk- ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- npm_ xoxb- xoxp- xapp- hf_ sk_live_ sk_test_ rk_live_ AKIA ASIA AIza'

  it.each(prefixes.split(' '))('hides the keys that begin with %s, wherever they stand', (prefix) => {
    const key = `${prefix}${'A1b2C3d4E5'.repeat(4)}`
    expect([key, `x=${key};`, `${'words '.repeat(99)}"${key}"`].map(redact)).toEqual([
      '[redacted]',
      'x=[redacted];',
      `${'words '.repeat(99)}"[redacted]"`,
    ])
  })

  it.each([
    'svc_create_task and svc_submit_for_review are tools',
    'class="sk-circle-fade-in-out-animation-wrapper"',
    'const task-management = authorization: string',
    'see https://example.org:8080/path@2 and risk-2024-analysis-of-everything',
    'headers: { authorization: `Bearer ${token}` }',
    'const password = request.form.get(name)',
    'function login(email: string, password: string): Promise<void>',
    'password: z.string().min(8), secret: config.secret, api_key = os.environ',
    'PASSWORD=$SECRET and password=<your password>',
    '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
  ])('leaves %j alone', (text) => {
    expect(redact(text)).toBe(text)
  })
})

describe('literal secrets', () => {
  it('are hidden as they are, in JSON and addresses, and line by line', () => {
    const redact = createRedactor([], ['p"ass word', 'first-line-of-key\nsecond-line-of-key'])
    expect(redact('p"ass word | p\\"ass word | p%22ass%20word | second-line-of-key')).toBe(
      '[redacted] | [redacted] | [redacted] | [redacted]',
    )
  })

  it('are matched literally, not as an expression', () => {
    expect(createRedactor([], ['a.c(d)+'])('abc(d)+ a.c(d)+')).toBe('abc(d)+ [redacted]')
  })

  it('are ignored when they are so short that ordinary words would be hidden', () => {
    expect(createRedactor([], ['the', ''])('the end')).toBe('the end')
  })
})

describe('literal secrets of a few letters', () => {
  it.each(['open', 'is', '1', 'ab1'])('leave ordinary texts as they are: %s', (secret) => {
    const text = '{"state":"open","id":1,"is":"abide ab1"} This is open, 1 of 11.'
    expect(createRedactor([], [secret])(text)).toBe(text)
  })

  it.each([
    ['Authorization: token ab1', 'Authorization: token [redacted]'],
    ['{"token":"ab1"}', '{"token":"[redacted]"}'],
    ['https://me:ab1@host/x', 'https://me:[redacted]@host/x'],
    ['MY_API_KEY=ab1 make', 'MY_API_KEY=[redacted] make'],
    ['bearer ab1', 'bearer [redacted]'],
  ])('are hidden where a credential stands: %s', (text, shown) => {
    expect(createRedactor([], ['ab1'])(text)).toBe(shown)
  })

  it('are hidden as whole words from six characters, and anywhere from eight', () => {
    expect(createRedactor([], ['hunter2'])('hunter2 and hunter20 and "hunter2"')).toBe(
      '[redacted] and hunter20 and "[redacted]"',
    )
    expect(createRedactor([], ['hunter22'])('xhunter22x')).toBe('x[redacted]x')
  })
})

describe('patterns of a project', () => {
  it('all see the original text, so that overlapping ones hide the whole', () => {
    expect(createRedactor(['abc', 'bcdef'])('xabcdefx')).toBe('x[redacted]x')
  })

  it('hide every match, even more than are searched at once', () => {
    const lines = Array.from({ length: 500 }, (_, index) => `user${index}@example.org wrote line ${index}`)
    const shown = createRedactor([String.raw`[\w.]+@example\.org`])(lines.join('\n')).split('\n')
    expect(shown).toEqual(lines.map((_, index) => `[redacted] wrote line ${index}`))
  })

  it.each(['(', '(?=a)b', String.raw`(a)\1`, 'x*', 'a'.repeat(1_001), 'x{1000}y{1000}z{1000}a{1000}b{1000}c{1000}'])(
    'are refused with a reason if they cannot work: %.20s',
    (pattern) => {
      expect(validateRedactionPattern(pattern)).toMatch(/\w+/)
      expect(() => createRedactor([pattern])).toThrow(RedactionPatternError)
    },
  )

  it('are accepted otherwise', () => {
    expect(validateRedactionPattern(String.raw`(?i)password=\S+`)).toBeNull()
  })

  // In the JavaScript engine each of these takes minutes to centuries, so the bound is generous.
  it.each([
    ['(a+)+$', `${'a'.repeat(200_000)}!`],
    ['(x|x)*y', 'x'.repeat(200_000)],
    ['x[^y]*y|x', 'x'.repeat(50_000)],
    ['ordinary', 'eyJ'.repeat(200_000)],
    ['ordinary', 'sk-'.repeat(200_000)],
    ['ordinary', 'authorization:'.repeat(50_000)],
  ])('take linear time: %s', (pattern, text) => {
    const redact = createRedactor([pattern])
    expect(cpuTime(() => redact(text))).toBeLessThan(5_000)
  })
})
