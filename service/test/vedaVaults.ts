import {
  vedaAccountantAbi,
  vedaAccountantBytecode,
  vedaQueueAbi,
  vedaQueueBytecode,
  vedaReferralTellerAbi,
  vedaReferralTellerBytecode,
  vedaTellerAbi,
  vedaTellerBytecode,
  vedaVaultAbi,
  vedaVaultBytecode,
} from '@openearn/contracts'
import { type Abi, type Address, erc20Abi, maxUint256, parseEventLogs } from 'viem'
import { account } from '../../contracts/test/anvil.js'
import type { World, WorldVault } from './actionWorld.js'

/** Who deploys the contracts, manages them and pays requests. */
const solver = account(0)

export type Veda = WorldVault & {
  teller: Address
  accountant: Address
  queue: Address
  form: 'older' | 'newer'
  tellerAbi: Abi
}

const usualTerms = {
  allowWithdraws: true,
  secondsToMaturity: 0,
  minimumSecondsToDeadline: 86_400,
  minDiscount: 16,
  maxDiscount: 100,
  minimumShares: 0n,
}

type Options = {
  form?: Veda['form']
  rate?: bigint
  /** Other contracts to list it with. */
  contracts?: Record<string, Address | undefined>
}

/** Vaults of Veda on the chain of a world, listed, and what their managers do. */
export function openVeda(world: World, token: Address) {
  const { anvil } = world
  const manage = (address: Address, abi: Abi, name: string, args: readonly unknown[]) =>
    world.write(address, abi, name, args, solver)
  const inQueue = ({ queue }: Veda, name: string, args: readonly unknown[]) => manage(queue, vedaQueueAbi, name, args)
  const atTeller = ({ teller, tellerAbi }: Veda, name: string, args: readonly unknown[]) =>
    manage(teller, tellerAbi, name, args)
  const setTerms = (vault: Veda, terms: Partial<typeof usualTerms>) =>
    inQueue(vault, 'setWithdrawAsset', [token, { ...usualTerms, ...terms }])

  async function open({ form = 'older', rate = 1_100_000n, contracts = {} }: Options = {}): Promise<Veda> {
    const address = await anvil.deploy({ abi: vedaVaultAbi, bytecode: vedaVaultBytecode, args: [6] })
    const accountant = await anvil.deploy({
      ...{ abi: vedaAccountantAbi, bytecode: vedaAccountantBytecode, args: [address, token, rate] },
    })
    const parts = [address, accountant]
    const tellerAbi = (form === 'older' ? vedaTellerAbi : vedaReferralTellerAbi) as Abi
    const bytecode = form === 'older' ? vedaTellerBytecode : vedaReferralTellerBytecode
    const teller = await anvil.deploy({ abi: tellerAbi, bytecode, args: parts })
    const queue = await anvil.deploy({ abi: vedaQueueAbi, bytecode: vedaQueueBytecode, args: parts })
    await manage(address, vedaVaultAbi, 'setMinter', [teller, true])
    await manage(address, vedaVaultAbi, 'setBeforeTransferHook', [teller])
    await manage(teller, tellerAbi, 'updateAssetData', [token, true, true, 0])
    await manage(queue, vedaQueueAbi, 'setWithdrawAsset', [token, usualTerms])
    await manage(token, erc20Abi, 'approve', [queue, maxUint256])
    const named = Object.entries({ teller, accountant, queue, ...contracts }).filter(([, each]) => each !== undefined)
    const listed = await world.list({
      ...{ address, asset: token, decimals: 6, receiptDecimals: 6, kind: 'veda' },
      contracts: Object.fromEntries(named) as Record<string, Address>,
    })
    return { ...listed, teller, accountant, queue, form, tellerAbi }
  }

  async function logsOf(address: Address) {
    const { number } = await anvil.client.getBlock()
    return anvil.client.getLogs({ address, fromBlock: 0n, toBlock: number })
  }

  /** All requests that a queue told of, oldest first. */
  async function requests({ queue }: Veda) {
    const logs = await logsOf(queue)
    return parseEventLogs({ abi: vedaQueueAbi, eventName: 'OnChainWithdrawRequested', logs }).map(({ args }) => args)
  }

  /** All deposits that a teller told of, oldest first. */
  async function deposits({ teller }: Veda) {
    const logs = await logsOf(teller)
    return parseEventLogs({ abi: vedaTellerAbi, eventName: 'Deposit', logs }).map(({ args }) => args)
  }

  type Request = Awaited<ReturnType<typeof requests>>[number]
  const toStruct = ({ requestId: _, ...request }: Request) => request
  return {
    ...{ open, inQueue, atTeller, setTerms, requests, deposits, toStruct },
    setRate: ({ accountant }: Veda, rate: bigint) =>
      manage(accountant, vedaAccountantAbi, 'updateExchangeRate', [rate]),
    /** The solver takes the shares of requests, pays them, and redeems the shares for itself. */
    solve: async (vault: Veda, all: readonly Request[]) => {
      await inQueue(vault, 'solveOnChainWithdraws', [all.map(toStruct), '0x', solver.address])
      await world.mint(token, vault.address, 1_000_000_000n)
      const sum = all.reduce((sum, { amountOfShares }) => sum + amountOfShares, 0n)
      await atTeller(vault, 'bulkWithdraw', [token, sum, 0n, solver.address])
    },
    refund: (vault: Veda, told: Awaited<ReturnType<typeof deposits>>[number]) =>
      atTeller(vault, 'refundDeposit', [
        ...[told.nonce, told.receiver, told.depositAsset, told.depositAmount, told.shareAmount],
        ...[told.depositTimestamp, told.shareLockPeriodAtTimeOfDeposit],
      ]),
  }
}
