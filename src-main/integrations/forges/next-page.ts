interface Page {
  /** The query key of the number of issues on a page. */
  readonly size_key: string
  readonly items: number
  readonly header: (name: string) => string | null
}

/**
 * Returns the address of the page after `url` where the answer names none, as behind a proxy that drops `Link`; null
 * when nothing says that there is more: neither the total nor a full page.
 */
export function nextPage(url: string, { size_key, items, header }: Page): string | null {
  const next = new URL(url)
  const page = Number(next.searchParams.get('page') ?? 1)
  const asked = Number(next.searchParams.get(size_key) ?? NaN)
  if (items === 0 || !Number.isSafeInteger(page)) return null
  const total = Number(header('x-total-count') || header('x-total') || NaN)
  const isTold = Number.isSafeInteger(total)
  const hasMore = isTold ? (page - 1) * asked + items < total : items >= asked
  if (!hasMore) return null
  // A server may give fewer than asked for; the later pages are counted by what it gives.
  if (page === 1 && items < asked) next.searchParams.set(size_key, String(items))
  next.searchParams.set('page', String(page + 1))
  return next.href
}
