import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const run = promisify(execFile)
const example = async (name: string): Promise<string[]> => {
  const path = fileURLToPath(new URL(`../examples/${name}.mjs`, import.meta.url))
  return (await run(process.execPath, [path])).stdout.trim().split('\n')
}

describe('the examples run as they are printed in README.md', () => {
  it('checkBeforeSigning signs what was asked and not what a thief made of it', async () => {
    expect(await example('checkBeforeSigning')).toEqual([
      'sign: the plan does exactly what was asked',
      'do not sign: the last transaction calls something else than was asked for',
    ])
  })

  it('readAttribution finds the distributor and the signer, and no proof in a copied suffix', async () => {
    expect(await example('readAttribution')).toEqual([
      'bytes 68 to 197: acme',
      'signed by 0xa0Ee7A142d267C1f36714E4a8F75612F20a79720',
      'copied: no published signer signed this for this wallet, target, call and chain',
      '0x61636d65040080218021802180218021802180218021',
    ])
  })

  it('README.md names only files that are there', async () => {
    const readme = new URL('../README.md', import.meta.url)
    const text = await readFile(readme, 'utf8')
    const paths = [...text.matchAll(/\]\(([^)]+)\)/g), ...text.matchAll(/^node sdk\/(\S+)/gm)].map(([, path]) => path!)
    expect(paths.length).toBeGreaterThan(3)
    for (const path of paths) await expect(readFile(new URL(path, readme), 'utf8'), path).resolves.toBeDefined()
  })
})
