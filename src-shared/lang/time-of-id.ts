/** Returns the time at which a UUIDv7 was made, in milliseconds of Unix time. */
export const timeOfId = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
