/**
 * What is never part of HTML that a library puts into the page: the lists and lines that the viewer of changes draws
 * have no such tags, no handlers and no addresses. Text can't match, because in text `<` is escaped.
 */
const active =
  /<\/?(?:script|iframe|frame|object|embed|base|meta|link|form|input|button|img|image|video|audio|source|math|a)\b|<[a-z][^>]*\s(?:on\w+|href|src|srcdoc|action|formaction)\s*=/i

/** Returns HTML as it is; throws if anything in it could run, fetch or lead away. */
export function checkHtml(html: string): string {
  if (active.test(html)) throw new TypeError('This HTML could run or fetch something.')
  return html
}

/** Returns the address of a script if `origin` serves it; throws for any other. */
export function checkScriptUrl(address: string, { href, origin }: Pick<Location, 'href' | 'origin'>): string {
  const url = new URL(address, href)
  // The window's own scheme has no `origin` in every engine, so the start of the address decides.
  if (!url.href.startsWith(`${origin}/`)) throw new TypeError('This script is not the app’s.')
  return url.href
}
