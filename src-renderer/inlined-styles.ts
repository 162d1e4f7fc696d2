/**
 * Adds the link of the styles that the page has in it, without loading them: what loads other screens takes styles for
 * loaded where it finds their link. In the page's own text browsers look ahead and load it, disabled or not.
 */
export function linkInlinedStyles(): void {
  const href = document.querySelector<HTMLMetaElement>('meta[name="inlined-styles"]')?.content
  if (href === undefined) return
  const link = document.createElement('link')
  link.rel = 'stylesheet'
  link.disabled = true
  link.setAttribute('href', href)
  document.head.append(link)
}
