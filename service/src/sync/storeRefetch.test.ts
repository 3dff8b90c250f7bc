import { expect, it, onTestFinished } from 'vitest'
import { openTestDatabase } from '../../test/database.js'
import { openRefetch, recordRefetch, removeRefetch } from './storeRefetch.js'

it('a range that was broken off is found where it was left, beside others of its chain and of another', async () => {
  const test = await openTestDatabase({ max: 1 })
  onTestFinished(() => test.close())
  const { db } = test
  await db`insert into chains (chain_id, name, slug) values (1, 'C', 'c'), (2, 'D', 'd')`
  const ranges = [
    [1, 10, 20],
    [1, 10, 30],
    [1, 11, 20],
    [2, 10, 20],
  ] as const
  for (const [at, [chainId, from, to]] of ranges.entries()) {
    const begun = await openRefetch(db, chainId, from, to)
    expect(begun).toEqual({ chainId, from, to, doneTo: from - 1, missingLogs: 0, extraLogs: 0, firstWrong: null })
    await recordRefetch(db, { ...begun, doneTo: 12 + at, missingLogs: at, firstWrong: 11 })
  }
  for (const [at, [chainId, from, to]] of ranges.entries())
    expect(await openRefetch(db, chainId, from, to)).toMatchObject({
      chainId,
      from,
      to,
      doneTo: 12 + at,
      missingLogs: at,
    })
  const [, second] = ranges
  await removeRefetch(db, await openRefetch(db, ...second))
  expect(await openRefetch(db, ...second)).toMatchObject({ doneTo: 9, firstWrong: null })
  expect(await openRefetch(db, ...ranges[0])).toMatchObject({ doneTo: 12 })
})
