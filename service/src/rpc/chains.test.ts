import { expect, it } from 'vitest'
import { fakeClock } from '../kernel/clock.js'
import { createOutbound } from '../kernel/outbound.js'
import { listNodes, openChain } from './chains.js'

const open = (rpcUrls: readonly string[], purpose: 'watch' | 'plan' = 'watch') =>
  openChain(
    createOutbound(fakeClock('2026-11-20T12:00:00Z')),
    {
      ...{ chainId: 1, name: 'One', nativeSymbol: 'ETH', rpcUrls, confirmations: 1, finalityDepth: 64 },
      ...{ pollIntervalMs: 1_000, reorgRecheckSeconds: 2, entryPoints: [] },
    },
    undefined,
    { purpose },
  )

it('each url of a watched chain is a node by a name that holds no key, and two of one host have two names', () => {
  const urls = [
    'https://a.example/v2/secret1',
    'wss://a.example/v2/secret1',
    'https://b.example:8545/',
    'https://a.example/v2/secret2',
  ]
  const nodes = listNodes(open(urls), 'a job')
  expect([...nodes.keys()]).toEqual([
    expect.stringMatching(/^a\.example [0-9a-f]{8}$/),
    'b.example:8545',
    expect.stringMatching(/^a\.example [0-9a-f]{8}$/),
  ])
  expect(new Set(nodes.keys()).size).toBe(3)
  expect([...nodes.values()].map(({ rpcUrls }) => rpcUrls)).toEqual([[urls[0]], [urls[2]], [urls[3]]])
  expect(listNodes(open(urls, 'plan'), 'a job').size).toBe(0)
})
