/**
 * Work that is done once at a time for each key: whoever asks for it while it is under way shares it. After
 * `forget` nobody shares what was begun before.
 */
export function shareInFlight(work: (key: string) => Promise<void>) {
  const underWay = new Map<string, Promise<void>>()
  return {
    async run(key: string): Promise<void> {
      const mine = underWay.get(key) ?? work(key)
      underWay.set(key, mine)
      try {
        await mine
      } finally {
        if (underWay.get(key) === mine) underWay.delete(key)
      }
    },
    forget: () => underWay.clear(),
  }
}
