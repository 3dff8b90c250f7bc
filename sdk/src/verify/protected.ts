import { encodeFunctionData, parseAbi } from 'viem'
import type { Known } from './context.js'
import { expectedCalls } from './expected.js'
import { readCall } from './kindCalls.js'
import type { Complain } from './shape.js'

const abi = parseAbi([
  'function depositWithMinimum(address vault, uint256 assets, address receiver, uint256 minimumShares)',
])

/** The name the router has among the contracts of a vault, which no catalogue gives one. */
const routerName = ' deposit router'

/**
 * The facts for a protected deposit: the router takes the token and the call, which names the vault and the minimum of shares.
 * Undefined, with a complaint, if a deposit cannot be protected.
 */
export function asProtected(known: Known, complain: Complain): Known | undefined {
  const { depositRouter, vault } = known
  if (known.kind !== expectedCalls['erc4626'])
    complain('only deposits into vaults of the kind erc4626 can be protected')
  else if (!depositRouter) complain('the deposit router of the chain is not known')
  else
    return {
      ...known,
      contracts: { ...known.contracts, [routerName]: depositRouter },
      kind: {
        ...known.kind,
        contracts: { spender: routerName, deposit: routerName },
        // Exact but for the least that must come out: at least what was asked for, and pinned by the signature.
        isDeposit: (call, { amount, user, minimumOut }) => {
          const minimum = readCall(call, abi, 'depositWithMinimum')?.[3]
          if (typeof minimum !== 'bigint' || minimum < minimumOut) return false
          return call === encodeFunctionData({ abi, args: [vault, amount, user, minimum] })
        },
      },
    }
  return undefined
}
