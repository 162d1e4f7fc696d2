/** Does something `count` times, so many at once; answers what each gave, in order. */
export async function someAtOnce<T>(count: number, atOnce: number, make: (number: number) => Promise<T>): Promise<T[]> {
  const made: T[] = []
  let next = 0
  const go = async (): Promise<void> => {
    while (next < count) {
      const number = next++
      made[number] = await make(number)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, go))
  return made
}
