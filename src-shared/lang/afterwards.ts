/** Returns the result of `work` once `finish` is over too, whatever became of `work`. */
export async function afterwards<Result>(work: Promise<Result>, finish: () => Promise<unknown>): Promise<Result> {
  try {
    return await work
  } finally {
    await finish()
  }
}
