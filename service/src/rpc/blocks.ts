import type { Chain } from './chains.js'
import { requestRead } from './multicall.js'
import type { Header } from './raw.js'
import { answers, malformed, toHeader, toQuantity } from './wire.js'

type ReadChain = Pick<Chain, 'name' | 'rpc'>

/** The latest block. A node that cannot be reached or does not tell is a 503. */
export async function readHead(chain: ReadChain): Promise<Header> {
  return requestRead(chain, parseHeader, 'eth_getBlockByNumber', ['latest', false])
}

/** The block of a number the chain has reached. A node that cannot be reached or does not tell is a 503. */
export async function readBlock(chain: ReadChain, number: number): Promise<Header> {
  const parse = (value: unknown): Header => {
    const header = parseHeader(value)
    if (header.number !== number) throw malformed('a node answered another block than asked')
    return header
  }
  return requestRead(chain, parse, 'eth_getBlockByNumber', [toQuantity(number), false])
}

/** The block of a hash. A node that cannot be reached or does not tell is a 503. */
export async function readBlockOf(chain: ReadChain, hash: string): Promise<Header> {
  const parse = (value: unknown): Header => {
    const header = parseHeader(value)
    if (header.hash !== hash) throw malformed('a node answered another block than asked')
    return header
  }
  return requestRead(chain, parse, 'eth_getBlockByHash', [hash, false])
}

function parseHeader(value: unknown): Header {
  return toHeader(answers.header.parse(value))
}
