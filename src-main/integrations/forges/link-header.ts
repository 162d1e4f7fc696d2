/** Returns the addresses of a `Link` header (RFC 8288) by `rel`. */
export function readLinks(header: string | null): ReadonlyMap<string, string> {
  const links = new Map<string, string>()
  for (const [, address = '', parameters = ''] of (header ?? '').matchAll(/<([^<>]*)>([^<]*)/g)) {
    const rel = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters)
    for (const name of (rel?.[1] ?? rel?.[2] ?? '').toLowerCase().split(/\s+/)) {
      if (name !== '' && !links.has(name)) links.set(name, address.trim())
    }
  }
  return links
}
