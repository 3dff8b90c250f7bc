import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { catalogue } from './catalogue.js'
import { UsageError } from './terminal.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'openearn-catalogue-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A file of zeros that takes no room on the disk. */
async function makeFile(bytes: number): Promise<string> {
  const name = join(folder, `${bytes}.json`)
  const file = await open(name, 'w')
  await file.truncate(bytes)
  await file.close()
  return name
}

describe('the price that a probe is told', () => {
  it.each(['0', '0.000', '-1', '1e3', 'x', '1.', ''])('"%s" is refused in a sentence', async (price) => {
    const words = ['probe', '1', `0x${'11'.repeat(20)}`, '--rpc', 'http://127.0.0.1:1', '--price', price]
    if (price.startsWith('-')) words.splice(-2, 2, `--price=${price}`)
    await expect(catalogue.run(words)).rejects.toThrow(
      new UsageError('--price must be US dollars of a whole unit of the asset, such as 1 or 1830.25'),
    )
  })

  it('is for one vault', async () => {
    await expect(
      catalogue.run(['probe', '--all', await makeFile(0), '--out', join(folder, 'o'), '--price', '1']),
    ).rejects.toThrow(new UsageError('catalogue probe --all: the vaults have many assets; --price is for one vault'))
  })
})

describe('a catalogue file that is too large', () => {
  it.each([
    ['import', (name: string) => ['import', name]],
    ['probe --all', (name: string) => ['probe', '--all', name, '--out', join(folder, 'out.json')]],
  ])('is refused by %s in a sentence, and not read to its end', async (_what, wordsFor) => {
    const name = await makeFile(1024 ** 3)
    const refused = catalogue.run(wordsFor(name))
    await expect(refused).rejects.toThrow(
      new UsageError(`${name} has more than the 64 MiB that such a file may have; split it`),
    )
  })

  it('is refused where it has no size, as a device has none, and where it is no file', async () => {
    await expect(catalogue.run(['import', '/dev/zero'])).rejects.toThrow('/dev/zero has more than the 64 MiB')
    await expect(catalogue.run(['import', folder])).rejects.toThrow(/cannot be read: EISDIR/)
    await expect(catalogue.run(['import', join(folder, 'none.json')])).rejects.toThrow(/cannot be read: ENOENT/)
  })
})
