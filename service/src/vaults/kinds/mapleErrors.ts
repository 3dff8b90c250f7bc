import { failingText, type KnownError } from '../../rpc/revert.js'

/** Reasons of Maple's pools, their managers and queues. */
export const mapleErrors: readonly KnownError[] = [
  failingText('PM:CC:PAUSED', 'the pool is paused', 'closed'),
  failingText(
    'PM:CC:NOT_ALLOWED',
    'the pool deals with wallets that Maple has authorised, and this is not one of them',
    'closed',
  ),
  failingText('P:NOT_ACTIVE', 'the pool takes no deposits at present', 'closed'),
  failingText('P:DEPOSIT_GT_LIQ_CAP', 'the pool has no room for that much at present', 'capped'),
  failingText('P:M:ZERO_SHARES', 'the amount is too small for a share', 'tooSmall'),
  failingText('P:M:ZERO_ASSETS', 'the amount is too small for a share', 'tooSmall'),
  failingText('PM:PR:NO_ALLOWANCE', 'only the owner of the shares or whom it allowed to may do this'),
  failingText('PM:PW:NOT_ENABLED', 'shares are redeemed, never withdrawn by an amount of assets'),
  failingText('WM:PAUSED', 'the queue is paused', 'closed'),
  failingText('WM:AS:ZERO_SHARES', 'no shares were named', 'tooSmall'),
  failingText('WM:AS:IN_QUEUE', 'the queue takes one request of a wallet at a time, and one waits', 'waiting'),
  failingText('WM:RS:ZERO_SHARES', 'no shares were named', 'tooSmall'),
  failingText('WM:RS:NOT_IN_QUEUE', 'nothing of this wallet waits in the queue'),
  failingText('WM:RS:INSUFFICIENT_SHARES', 'fewer shares of this wallet wait in the queue'),
  failingText('WM:PE:NO_SHARES', 'no shares were named', 'tooSmall'),
  failingText('WM:PE:TOO_MANY_SHARES', 'the queue has not processed so many shares of this wallet', 'waiting'),
  failingText('WM:PE:NOT_ENOUGH_LIQUIDITY', 'the pool has lent what would be paid', 'capped'),
]
