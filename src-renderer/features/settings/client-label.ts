/** Returns a readable name of a client, such as `Firefox on Linux`; the user agent if unknown. */
export function clientLabel(client: string | null): string {
  if (client === null) return 'Copse’s own window'
  const browser = browsers.find(([mark]) => mark.test(client))?.[1]
  const system = systems.find(([mark]) => mark.test(client))?.[1]
  if (browser === undefined) return client.startsWith('node') ? 'A program, such as svc' : client
  return system === undefined ? browser : `${browser} on ${system}`
}

/** Each user agent also contains the names below it. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\//, 'Firefox'],
  [/\b(Headless)?Chrome\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const systems: readonly (readonly [RegExp, string])[] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux|X11/, 'Linux'],
]
