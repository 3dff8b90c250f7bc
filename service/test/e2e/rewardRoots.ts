import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createPublicClient, http, parseAbiItem } from 'viem'
import { foundry } from 'viem/chains'
import { expect } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { type Json, openClient } from './client.js'
import { type Dev, runOpenEarn, startOpenEarn } from './process.js'

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
    const kept = join(folder, id)
    await mkdir(kept)
    for (const [index, { at, file }] of files.entries()) {
      const [, instant, root] = lineForm.exec(lines[index] ?? '') ?? []
      expect(instant).toBe(at)
      await writeFile(join(kept, `${file}.json`), await (await fetch(`${dev.opsUrl}/streams/files/${file}`)).text())
      if (root !== undefined) counted.add(root)
    }
    expect(await countByNode(dev, kept, join(folder, 'nothing'))).toEqual(
      lines.map((line) => lineForm.exec(line)?.slice(2, 4)),
    )
  }
  const event = parseAbiItem(
    'event RootUpdated(bytes32 indexed root, uint40 indexed timestamp, uint256 totalAllocated)',
  )
  const chain = createPublicClient({ chain: foundry, transport: http(dev.rpcUrl) })
  const committed = (await chain.getLogs({ event, fromBlock: 0n })).map(({ args }) => args.root ?? '')
  expect(committed.filter((root) => !counted.has(root))).toEqual([])
  return { streams: ids.length, committed: committed.length }
}

/** Root and sum of every file of a folder, in order: the files and the node are all there is, and nothing differs. */
async function countByNode(dev: Dev, kept: string, nothing: string): Promise<string[][]> {
  const words = ['streams', 'recompute', '--file', kept, '--rpc', dev.rpcUrl]
  const started = startOpenEarn(words, { OPENEARN_DATA_DIR: nothing })
  const { code } = await started.ended
  const lines = started.output().trim().split('\n')
  const files = lines.flatMap((line) => lineForm.exec(line)?.slice(2) ?? [])
  // The terms are nobody's word but the operator's here.
  expect([code, lines.some((line) => line.startsWith('believed: the terms 0x'))], started.output()).toEqual([3, true])
  const rows = Array.from({ length: files.length / 3 }, (_, index) => files.slice(3 * index, 3 * index + 3))
  expect(new Set(rows.map(([, , verdict]) => verdict))).toEqual(new Set(['as kept, if the beliefs below hold']))
  return rows.map((row) => row.slice(0, 2))
}
