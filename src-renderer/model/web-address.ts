/** Returns an address that came from outside, if a browser may open it; null for any other scheme. */
export function webAddress(url: string | null): string | null {
  // The scheme stands at the very begin: what a browser would take away before it is no part of an address.
  return url !== null && /^https?:\/\/[^\s/]/i.test(url) ? url : null
}

/** Returns the host of an address with its port (`git.example.com:3000`), and without; empty for none. */
export function hostOf(url: string): { readonly host: string; readonly hostname: string } {
  const [, hostname = '', port = ''] = /^https?:\/\/(?:[^/@]*@)?(\[[^\]]+\]|[^/:?#\s]+)(:\d+)?/i.exec(url) ?? []
  return { host: `${hostname}${port}`.toLowerCase(), hostname: hostname.toLowerCase() }
}
