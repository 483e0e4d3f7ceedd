/** As Promise.all, but when several fail it throws the error of the first in the list, whichever came first. */
export async function allInOrder<Result>(promises: readonly Promise<Result>[]): Promise<Result[]> {
  await Promise.allSettled(promises)
  const results: Result[] = []
  for (const promise of promises) results.push(await promise)
  return results
}
