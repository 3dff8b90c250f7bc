import { encodeFunctionData, maxUint256, parseAbi } from 'viem'
import { combine, mapRead, readContract } from '../../rpc/multicall.js'
import { making } from '../calls.js'
import { emitted } from '../events.js'
import type { PlannedKind, RequestOffer, VaultCall } from '../kind.js'
import {
  buildRequestDeposit,
  claimSettledDeposits,
  erc7540Calls,
  erc7540Emits,
  readDepositRequests,
} from './asyncRequests.js'
import {
  decideClosed,
  decideMismatch,
  erc4626Calls,
  erc4626Emits,
  readErc4626Figures,
  readIdentity,
} from './erc4626.js'
import { erc7540Errors, readRedemption } from './erc7540.js'

const lagoonAbi = parseAbi([
  'function cancelRequestDeposit()',
  'function isWhitelisted(address account) view returns (bool)',
])

const cancelGas = 300_000n

/**
 * Lagoon vaults, by configuration: ERC-7540 on both sides, one open deposit request a controller, cancelled in one step
 * and paid back at once. Request id 0 stands for the wallet's last request. They are not ERC-7887.
 */
export const lagoon: PlannedKind = {
  name: 'lagoon',
  summary: 'Lagoon: ERC-7540 with one open deposit request a wallet, cancelled in one step.',
  asyncDeposit: true,
  asyncRedeem: true,
  emits: [
    ...erc4626Emits,
    ...erc7540Emits,
    // All that is pending of the request is paid back at once; the event names no amount.
    emitted(
      'event DepositRequestCanceled(uint256 indexed requestId, address indexed controller)',
      ({ requestId, controller }) => ({
        kind: 'cancelDepositClaim',
        controller,
        receiver: controller,
        requestId,
        sender: controller,
        amount: maxUint256,
      }),
    ),
  ],
  calls: [
    ...erc4626Calls,
    ...erc7540Calls,
    making(
      'function requestDeposit(uint256 assets, address controller, address owner, address referral)',
      'depositRequest',
      { amount: 'assets', controller: 'controller', owner: 'owner' },
    ),
    making('function cancelRequestDeposit()', 'cancelDepositClaim', {}),
  ],
  errors: erc7540Errors,
  plans: {
    spender: (vault) => vault.address,
    deposit: (ask) =>
      mapRead(
        combine({
          ...readIdentity(ask.vault),
          allowed: readContract(ask.vault.address, lagoonAbi, 'isWhitelisted', [ask.wallet]),
        }),
        ({ code, asset, allowed }) => ({
          // A vault without a list of wallets does not answer, and takes everybody.
          closed:
            decideClosed(code.codeLength) ??
            (allowed === false ? 'the vault takes no requests of this wallet' : undefined),
          mismatch: decideMismatch(ask.vault, asset),
          max: undefined,
          quoted: undefined,
          call: buildRequestDeposit(ask),
        }),
      ),
    withdraw: (ask) =>
      mapRead(combine({ ...readIdentity(ask.vault), requests: readRedemption(ask) }), ({ code, asset, requests }) => ({
        ...requests,
        closed: decideClosed(code.codeLength),
        mismatch: decideMismatch(ask.vault, asset),
      })),
    claimDeposit: claimSettledDeposits,
    cancelDeposit: (ask) =>
      mapRead(readDepositRequests(ask), (requests): RequestOffer => {
        const pending = requests.find((request) => request.pending > 0n)
        if (pending) {
          const call: VaultCall = {
            to: ask.vault.address,
            data: encodeFunctionData({ abi: lagoonAbi, functionName: 'cancelRequestDeposit' }),
            value: 0n,
            verb: 'cancelDeposit',
            gasConstant: cancelGas,
            spends: undefined,
            gains: ask.vault.asset,
          }
          return { refusal: undefined, call, requestId: pending.requestId, assets: pending.pending }
        }
        const settled = requests.some((request) => request.claimable > 0n)
        const why = settled
          ? 'the deposit is settled already; it can be claimed, not cancelled'
          : 'this wallet has no pending deposit in this vault'
        return { refusal: 'NOTHING_PENDING', why }
      }),
  },
  readFigures: readErc4626Figures,
  recognise: 'it answers as any vault of ERC-7540 does',
}
