import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createPublicClient, http, parseAbiItem } from 'viem'
import { foundry } from 'viem/chains'
import { expect } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { type Json, openClient } from './client.js'
import { type Dev, runOpenEarn } from './process.js'

/** A line of `recompute`: what it was counted of, the root, the sum, and what it came to. */
const lineForm = /^(\S+) {2}(0x[0-9a-f]{64}|no root) {2}(\d+) {2}(.*)$/

/**
 * Rebuilds the database of a devnet, and counts the root of every snapshot of its streams again: by the command with that
 * database, and by the command without one, of the reward file and the node. Every root that was ever committed on the
 * chain is among them.
 */
export async function countRootsAgain(
  dev: Dev,
  { folder, dataDir }: { folder: string; dataDir: string },
): Promise<{ streams: number; committed: number }> {
  const client = openClient(dev)
  const own = { OPENEARN_DATA_DIR: dataDir }
  // The two of the devnet, and that of its demo; what examples create starts later.
  const ids = await until('the streams to have snapshots with roots', async () => {
    const { streams } = await client.call('GET', '/v2/streams/?limit=100', undefined, dev.keys.secret)
    const rooted = streams.filter(({ lastSnapshot }: Json) => lastSnapshot?.rootHash).map(({ id }: Json) => id)
    return rooted.length >= 3 ? (rooted as string[]) : undefined
  })
  await runOpenEarn(['rebuild'], own)
  const counted = new Set<string>()
  for (const id of ids) {
    const files: { at: string; file: string }[] = JSON.parse(await runOpenEarn(['--json', 'streams', 'files', id], own))
    const lines = (await runOpenEarn(['streams', 'recompute', id], own)).trim().split('\n')
    expect(lines.map((line) => lineForm.exec(line)?.[4])).toEqual(files.map(() => 'as kept'))
    for (const [index, { at, file }] of files.entries()) {
      const [, instant, root, sum] = lineForm.exec(lines[index] ?? '') ?? []
      expect(instant).toBe(at)
      const path = join(folder, `${file}.json`)
      await writeFile(path, await (await fetch(`${dev.opsUrl}/streams/files/${file}`)).text())
      // A folder without a database: the file and the node are all there is.
      const alone = { OPENEARN_DATA_DIR: join(folder, 'nothing') }
      const said = await runOpenEarn(['streams', 'recompute', '--file', path, '--rpc', dev.rpcUrl], alone)
      expect(said).toBe(`${path}  ${root}  ${sum}  as kept\n`)
      if (root !== undefined) counted.add(root)
    }
  }
  const event = parseAbiItem(
    'event RootUpdated(bytes32 indexed root, uint40 indexed timestamp, uint256 totalAllocated)',
  )
  const chain = createPublicClient({ chain: foundry, transport: http(dev.rpcUrl) })
  const committed = (await chain.getLogs({ event, fromBlock: 0n })).map(({ args }) => args.root ?? '')
  expect(committed.filter((root) => !counted.has(root))).toEqual([])
  return { streams: ids.length, committed: committed.length }
}
