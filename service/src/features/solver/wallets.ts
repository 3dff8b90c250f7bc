import { type Address, type Hex, keccak256, size, slice } from 'viem'

/**
 * Contract wallets whose check of a signature (ERC-1271) runs published code alone, so that it cannot use up the solver's gas:
 * Safe proxies of the versions 1.3.0 and 1.4.1. Pure.
 */

/** Hash of the runtime code of `GnosisSafeProxy` 1.3.0 and of `SafeProxy` 1.4.1, as their npm packages have it. */
const proxyCodeHashes: ReadonlySet<string> = new Set([
  '0xb89c1b3bdf2cf8827818646bce9a8f6e372885f8c55e5c07acbd307cb133b000',
  '0xd7d408ebcd99b2b70be43e20253d6d92a8ea8fab29bd3be7f55b10032331fb4c',
])

/**
 * Published addresses, by github.com/safe-global/safe-deployments (`src/assets/v1.3.0`, `v1.4.1`): `canonical` and, of 1.3.0,
 * `eip155`. The code at each follows from its address (CREATE2). Those of zkSync are absent: proxies have other code there.
 */
const published = {
  singletons: [
    // GnosisSafe and GnosisSafeL2 1.3.0
    '0xd9db270c1b5e3bd161e8c8503c55ceabee709552',
    '0x69f4d1788e39c87893c980c06edf4b7f686e2938',
    '0x3e5c63644e683549055b9be8653de26e0b4cd36e',
    '0xfb1bffc9d739b8d520daf37df666da4c687191ea',
    // Safe and SafeL2 1.4.1
    '0x41675c099f32341bf84bfc5382af534df5c7461a',
    '0x29fcb43b46531bca003ddc8fcb67ffe91900c762',
  ],
  // CompatibilityFallbackHandler 1.3.0 and 1.4.1
  handlers: [
    '0xf48f2b2d2a534e402487b3ee7c18c33aec0fe5e4',
    '0x017062a1de2fe6b99be3d9d37841fed19f573804',
    '0xfd0732dc9e303f09fcef3a7388ad10a83459ec99',
  ],
}

/** The code a wallet delegates to (its singleton), and the contract that answers ERC-1271 for it; lower-case. */
export type WalletCode = { singleton: string; handler: string }

export type TrustedWallets = ReadonlySet<string>

const nameCode = ({ singleton, handler }: WalletCode): string => `${singleton} ${handler}`

/** The published wallets, and those an operator vouches for besides. */
export function listTrusted(more: readonly WalletCode[] = []): TrustedWallets {
  const known = published.singletons.flatMap((singleton) =>
    published.handlers.map((handler) => ({ singleton, handler })),
  )
  return new Set([...known, ...more].map(nameCode))
}

/** Storage slots of a Safe: the first one, and `keccak256("fallback_manager.handler.address")`. */
export const walletSlots = {
  singleton: `0x${'0'.repeat(64)}`,
  handler: '0x6c9a6c4a39284e37ed1cf53d337577d14212a4870fb976a4366c693b939918d5',
} as const

/** A wallet as a node returns it: its runtime code, and the words of its slots. */
export type WalletState = { code: Hex; singleton: Hex; handler: Hex }

const partBytes = 65
/** Each part costs the solver about 8,000 gas before one may fail. */
const partsMax = 10
/** The last byte of a part: an approved hash, a signature of a key, or one of a key for a prefixed message. */
const plainKinds: ReadonlySet<number> = new Set([1, 27, 28, 31, 32])

/** Why the check of a signature may run other code than the wallet's; undefined if it runs no other. */
export function findForeignPart(signature: Hex): string | undefined {
  const bytes = size(signature)
  if (bytes % partBytes !== 0) return `its signature has ${bytes} bytes, not parts of ${partBytes}`
  if (bytes > partBytes * partsMax) return `its signature has more than ${partsMax} parts`
  for (let end = partBytes; end <= bytes; end += partBytes) {
    const kind = Number(slice(signature, end - 1, end))
    if (!plainKinds.has(kind)) return `a part of its signature is of the kind ${kind}`
  }
  return undefined
}

/** The code of a known wallet, as its settlement finds it again on the chain. */
export type KnownWallet = { codeHash: Hex; singleton: Address; handler: Address }

/**
 * The code of a contract wallet that checks a signature of an order by published code alone, or why the order is risky: a
 * stranger's code may use up the solver's gas.
 */
export function judgeWallet(
  { code, singleton, handler }: WalletState,
  signature: Hex,
  trusted: TrustedWallets,
): { known: KnownWallet } | { risk: string } {
  const foreign = findForeignPart(signature)
  if (foreign !== undefined) return { risk: foreign }
  const codeHash = keccak256(code)
  if (!proxyCodeHashes.has(codeHash)) return { risk: 'its code is not that of a known wallet' }
  const [own, answering] = [toAddress(singleton), toAddress(handler)]
  if (own === undefined || answering === undefined) return { risk: 'a slot of it holds no address' }
  if (!trusted.has(nameCode({ singleton: own, handler: answering })))
    return { risk: `it delegates to ${own} with the handler ${answering}, which are not known` }
  return { known: { codeHash, singleton: own, handler: answering } }
}

function toAddress(word: Hex): Address | undefined {
  if (size(word) !== 32 || BigInt(slice(word, 0, 12)) !== 0n) return undefined
  return slice(word, 12).toLowerCase() as Address
}
