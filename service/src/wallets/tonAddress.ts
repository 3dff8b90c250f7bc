import { Address } from '@ton/core'

/**
 * The raw form (`workchain:hash`, lower-case) of a TON address written raw or in one of its four friendly spellings
 * (base64 or base64url); undefined for anything else, for workchains but the basic one and the masterchain, and for
 * addresses marked as test-only unless `testOnly` is let in.
 */
export function parseTonAddress(text: string, options: { testOnly: boolean }): string | undefined {
  // Stricter than the library, which reads `0x:` and half a hash.
  if (/^(0|-1):[0-9a-fA-F]{64}$/.test(text)) return text.toLowerCase()
  const friendly = Address.isFriendly(text) ? parseFriendly(text) : undefined
  if (!friendly || (friendly.isTestOnly && !options.testOnly)) return undefined
  const { workChain } = friendly.address
  return workChain === 0 || workChain === -1 ? friendly.address.toRawString() : undefined
}

function parseFriendly(text: string): ReturnType<typeof Address.parseFriendly> | undefined {
  try {
    return Address.parseFriendly(text)
  } catch (error) {
    // Another checksum, or another tag, which the library throws as a text.
    if (error instanceof Error || typeof error === 'string') return undefined
    throw error
  }
}

/** The spelling wallets show: friendly, not bounceable, safe in urls. `address` is raw. */
export function formatTonAddress(address: string): string {
  return Address.parseRaw(address).toString({ bounceable: false, urlSafe: true })
}

/** Workchain and account of a raw address. */
export function tonAddressParts(address: string): { workchain: number; hash: Uint8Array } {
  const { workChain, hash } = Address.parseRaw(address)
  return { workchain: workChain, hash: Uint8Array.from(hash) }
}
