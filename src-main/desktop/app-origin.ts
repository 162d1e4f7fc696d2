/** The page's own origin, so that no other page shares its storage. */
export const appOrigin = { scheme: 'copse', host: 'app', url: 'copse://app/' } as const
