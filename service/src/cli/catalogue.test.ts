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
