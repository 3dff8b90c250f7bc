import { type Address, getAddress } from 'viem'
import { cat } from '../handChain.js'
import { erc4626Answers, mint } from './erc4626.js'
import { type KindFixture, moved, places, told } from './fixture.js'

/** The first argument of a sample of the walk. */
const sampleOwner: Address = `0x${'1'.padStart(40, '0')}`
const [queue, manager, router] = [places.beside, places.escrow, getAddress(`0x${'40'.repeat(20)}`)]

const created = (owner: Address, shares: bigint) =>
  told(queue, 'event RequestCreated(uint128 indexed requestId, address indexed owner, uint256 shares)', {
    ...{ requestId: 1n, owner, shares },
  })

/** A pool of Maple that deals with the wallet; five of its shares wait in the queue. */
export const maple: KindFixture = {
  kind: 'maple',
  contracts: { queue, manager, router },
  before: [created(sampleOwner, 5n)],
  answers: {
    ...erc4626Answers,
    'function manager() view returns (address)': manager,
    'function pool() view returns (address)': places.vault,
    'function withdrawalManager() view returns (address)': queue,
    'function canCall(bytes32, address, bytes) view returns (bool, string)': [true, ''],
    'function convertToExitAssets(uint256) view returns (uint256)': 1_000_000n,
    'function requests(uint128) view returns (address, uint256)': [cat, 5n],
    'function requestIds(address) view returns (uint128)': 1n,
    'function manualSharesAvailable(address) view returns (uint256)': 0n,
  },
  deposit: mint,
  withdraw: (wallet: Address, _assets, shares) => [
    moved(wallet, manager, shares),
    moved(manager, queue, shares),
    created(wallet, shares),
    told(places.vault, 'event RedemptionRequested(address indexed owner, uint256 shares, uint256 escrowedShares)', {
      ...{ owner: wallet, shares, escrowedShares: shares },
    }),
  ],
}
