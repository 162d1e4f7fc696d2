/**
 * What the page may load and run, in a browser as in the window: only what Copse serves. Styles may be inline, because
 * components set them. Pictures may be data, because the editor draws with them, and `blob:`, as which the page holds
 * the files of tasks. HTML and addresses of scripts pass the policies that `trusted-types` names.
 */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types vue default',
].join('; ')
