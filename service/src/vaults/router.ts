import { depositRouterAbi } from '@openearn/contracts'
import { type Address, encodeFunctionData } from 'viem'
import { mapRead } from '../rpc/multicall.js'
import { failing, type KnownError } from '../rpc/revert.js'
import type { DepositAsk, Offer, PlannedKind, VaultCall } from './kind.js'
import { listErrors } from './kinds.js'

/** Gas of pulling the asset and passing it on, in addition to the vault's own gas, if no estimate is available. */
const routerGas = 200_000n

const routerErrors: readonly KnownError[] = [
  failing('error ZeroMinimum()', 'a minimum of 0 protects nothing', 'tooSmall'),
  failing('error AmountNotReceived(uint256 asked, uint256 received)', 'the token takes a fee of what it moves'),
  failing('error AmountNotTaken(uint256 given, uint256 left)', 'the vault takes a different amount than it receives'),
  failing('error SharesBelowMinimum(uint256 minimum, uint256 shares)', 'the vault gives fewer shares than it quoted'),
  failing('error AssetsBelowMinimum(uint256 minimum, uint256 assets)', 'the wrapper pays less than it quoted'),
  failing('error SafeERC20FailedOperation(address token)', 'the token refused the transfer'),
  failing('error ReentrancyGuardReentrantCall()', 'the contract was called again from within'),
]

/** Errors that a call of the router may revert with: its own, then those of all vaults and wrappers. */
export function listRouterErrors(): readonly KnownError[] {
  return listErrors({ errors: routerErrors })
}

/**
 * A kind whose deposits go through the router, which reverts where the wallet gets fewer shares than the quote less the
 * slippage. The wallet calls the router, and the shares are its own.
 */
export function throughRouter(kind: PlannedKind, router: Address): PlannedKind {
  return {
    ...kind,
    errors: [...kind.errors, ...routerErrors],
    plans: {
      ...kind.plans,
      spender: () => router,
      deposit: (ask) => mapRead(kind.plans.deposit(ask), (offer) => protect(offer, ask, router)),
    },
  }
}

function protect(offer: Offer, ask: DepositAsk, router: Address): Offer {
  const { closed, quoted, call } = offer
  const least = ((quoted ?? 0n) * BigInt(10_000 - ask.slippageBps)) / 10_000n
  const unquoted = 'the vault returns no quote, so no minimum can protect the deposit'
  return {
    ...offer,
    closed: closed ?? (quoted === undefined ? unquoted : undefined),
    // The router takes no minimum of 0.
    call: buildRouted(call, ask, router, least > 0n ? least : 1n),
  }
}

function buildRouted(
  call: VaultCall,
  { vault, wallet, amount }: DepositAsk,
  router: Address,
  leastOut: bigint,
): VaultCall {
  return {
    ...call,
    to: router,
    data: encodeFunctionData({
      abi: depositRouterAbi,
      functionName: 'depositWithMinimum',
      args: [vault.address, amount, wallet, leastOut],
    }),
    gasConstant: call.gasConstant + routerGas,
    leastOut,
    router,
  }
}
