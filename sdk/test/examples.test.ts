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

const vault = '0xDc64a140Aa3E981100a9becA4E685f962f0cF6C9'
const token = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

describe('the examples run as they are printed in README.md', () => {
  it('checkBeforeSigning signs what was asked and not what a thief made of it', async () => {
    expect(await example('checkBeforeSigning')).toEqual([
      'sign: the plan does exactly what was asked',
      `- Allow ${vault} to take exactly 123000000 units of ${token} from your wallet.`,
      `- Deposit 123000000 units of ${token} into ${vault}; the shares go to ${wallet}; brought by acme with the referral code friend-1.`,
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
