import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig } from '../command.js'
import { UsageError } from '../terminal.js'

/** The members of `dev.json` that the demos use. */
export type Dev = {
  baseUrl: string
  rpcUrl: string
  keys: { publishable: string; secret: string }
  distributorIds: string[]
  accounts: { address: `0x${string}`; privateKey: `0x${string}` }[]
  opportunities: { id: string; name: string; kind: string; vaultAddress: `0x${string}` }[]
  contracts: Record<string, `0x${string}`>
}

// biome-ignore lint/suspicious/noExplicitAny: the demos print responses unparsed
export type Json = any

export type Caller = (method: string, path: string, body?: unknown, isKeyed?: boolean) => Promise<Json>

/** The devnet that runs on this machine. */
export async function readDev(): Promise<Dev> {
  const file = join(readConfig().dataDir, 'dev.json')
  const text = await readFile(file, 'utf8').catch(() => {
    throw new UsageError(`${file} is not there: start the devnet first with \`npm start\``)
  })
  return JSON.parse(text)
}

/** Calls the API of a devnet with a key; a refusal ends the demo. */
export function createCaller({ baseUrl }: Pick<Dev, 'baseUrl'>, key: string): Caller {
  return async (method, path, body, isKeyed = true) => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        ...(isKeyed ? { 'X-API-Key': key } : {}),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      throw new UsageError(`${baseUrl} cannot be reached: start the devnet with \`npm start\``, { cause })
    })
    const answer: Json = await response.json()
    if (!response.ok) throw new UsageError(`${method} ${path} answered ${response.status}: ${answer.error}`)
    return answer
  }
}
