import { type Address, erc20Abi, getAddress, zeroAddress } from 'viem'
import { computeUsd } from '../../kernel/amount.js'
import { invalidInput } from '../../kernel/errors.js'
import type { Caller } from '../../kernel/operation.js'
import type { Written } from '../../postgres/context.js'
import { readHead } from '../../rpc/blocks.js'
import { readGasPrice } from '../../rpc/estimate.js'
import { combine, combineAll, multicall, readAccount, readContract } from '../../rpc/multicall.js'
import { formatAddress } from '../catalogue/index.js'
import {
  type ActionContext,
  buildApprovals,
  finishAction,
  getOwnDistributor,
  getValidUntil,
  type Interaction,
  insufficientBalance,
  parseAmount,
} from '../plans/index.js'
import { findBestQuote } from './provider.js'
import { getSwapChain, listHubs } from './providers.js'
import type { SwapInput } from './schema.js'
import { type Swap, toSwapDraft } from './swapDraft.js'
import { assertDifferent, findSwapPrices, isNative, parseToken, readSwapToken } from './swapTokens.js'

/** Builds the transactions of a swap, ready to sign; sends nothing. What is got goes to the wallet that gives. */
export async function getSwap(ctx: ActionContext, input: SwapInput, caller: Caller): Promise<Written<Interaction>> {
  const amountIn = parseAmount(input.amountIn, 'amountIn')
  const wallet = parseUser(input.user)
  const [addressIn, addressOut] = [parseToken(input.tokenIn), parseToken(input.tokenOut)]
  assertDifferent(addressIn, addressOut)
  const { chain, settings, providers } = getSwapChain(ctx, input.chainId)
  const snapshot = ctx.catalogue.current()
  const distributor = getOwnDistributor(snapshot, input.distributorId, caller)

  const spenders = providers.flatMap((provider) => provider.spenders(settings))
  const erc20 = isNative({ address: addressIn }) ? undefined : (addressIn as Address)
  const [head, gasPrice, { answer }] = await Promise.all([
    readHead(chain),
    readGasPrice(chain),
    multicall(
      chain,
      combine({
        tokenIn: readSwapToken(snapshot, input.chainId, addressIn),
        tokenOut: readSwapToken(snapshot, input.chainId, addressOut),
        account: readAccount(wallet),
        held: combineAll(erc20 ? [readContract(erc20, erc20Abi, 'balanceOf', [wallet])] : []),
        allowances: combineAll(
          erc20 ? spenders.map((spender) => readContract(erc20, erc20Abi, 'allowance', [wallet, spender])) : [],
        ),
      }),
    ),
  ])
  const { tokenIn, tokenOut } = answer
  const simulates = input.simulate !== false
  const balance = erc20 ? (answer.held[0] ?? 0n) : answer.account.balance
  if (simulates && balance < amountIn) throw insufficientBalance(balance, amountIn)

  const hubs = listHubs(snapshot, settings)
  const at = { blockHash: head.hash }
  const ask = { chain, settings, tokenIn, tokenOut, amountIn, hubs, at, gasPrice }
  const quote = await findBestQuote(providers, ask)
  const createdAt = ctx.clock.now()
  const swap: Swap = {
    ...{ ask, quote, wallet, createdAt },
    slippageBps: BigInt(input.slippageBps),
    deadline: BigInt(Math.floor(getValidUntil(createdAt).getTime() / 1_000)),
  }
  const { spender } = quote
  const approvals =
    spender === undefined
      ? []
      : buildApprovals({
          token: tokenIn,
          tokenAddress: getAddress(tokenIn.address),
          spender,
          spenderParty: { name: quote.target, address: formatAddress(spender) },
          amount: amountIn,
          allowance: answer.allowances[spenders.indexOf(spender)] ?? 0n,
        })
  const priceUsd = (await findSwapPrices(ctx, settings, [tokenIn]))(tokenIn)
  const draft = toSwapDraft(swap, {
    approvals,
    block: simulates ? head : undefined,
    amountUsd: priceUsd === undefined ? undefined : computeUsd(amountIn, tokenIn.decimals, priceUsd),
  })
  const { organizationId } = caller
  return finishAction(ctx, { wallet, distributor, organizationId, opportunity: undefined }, draft)
}

/** Nobody signs for the zero address, and a router takes it for itself. */
function parseUser(text: string): Address {
  const wallet = getAddress(text.toLowerCase())
  if (wallet === zeroAddress) throw invalidInput([{ path: 'user', message: 'must be the address of a wallet' }])
  return wallet
}
