/** Nothing but what this service itself serves; styles inline because components set them. */
const contentSecurityPolicy = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "object-src 'none'",
  "form-action 'self'",
].join('; ')

/** Answers of the API are data: nothing in them is ever run or shown as a page. */
const dataPolicy = "default-src 'none'; frame-ancestors 'none'"

const always = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}
const page = { ...always, 'content-security-policy': contentSecurityPolicy }
const data = { ...always, 'content-security-policy': dataPolicy, 'cache-control': 'no-store' }
const encrypted = { 'strict-transport-security': `max-age=${365 * 24 * 60 * 60}` }

/** What every answer tells a browser not to do with it. */
export function securityHeaders(isApi: boolean, isEncrypted: boolean): Readonly<Record<string, string>> {
  const headers = isApi ? data : page
  return isEncrypted ? { ...headers, ...encrypted } : headers
}
