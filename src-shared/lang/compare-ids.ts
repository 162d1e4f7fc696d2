/**
 * Compares two IDs in the order in which they were made; for `sort`. IDs begin with their time, so text order is it.
 */
export const compareIds = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1)

/** Returns whether an ID was made after another. */
export const isLaterId = (one: string, other: string): boolean => compareIds(one, other) > 0
