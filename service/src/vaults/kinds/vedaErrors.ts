import { failing, failingText, type KnownError } from '../../rpc/revert.js'

/** Errors of the tellers, accountants and queues of Veda. */
export const vedaErrors: readonly KnownError[] = [
  failing('error TellerWithMultiAssetSupport__Paused()', 'the teller is paused', 'closed'),
  failing('error TellerWithMultiAssetSupport__AssetNotSupported()', 'the teller does not take this token', 'closed'),
  failing('error TellerWithMultiAssetSupport__ZeroAssets()', 'nothing would be deposited', 'tooSmall'),
  failing('error TellerWithMultiAssetSupport__ZeroShares()', 'no shares were named', 'tooSmall'),
  failing(
    'error TellerWithMultiAssetSupport__MinimumMintNotMet()',
    'fewer shares would be given than the least that was asked for',
  ),
  failing(
    'error TellerWithMultiAssetSupport__SharesAreLocked()',
    'the shares of this wallet are locked after its last deposit',
    'waiting',
  ),
  failing(
    'error TellerWithMultiAssetSupport__TransferDenied(address from, address to, address operator)',
    'the teller lets no shares of this wallet move',
    'closed',
  ),
  failing(
    'error TellerWithMultiAssetSupport__MinimumAssetsNotMet()',
    'less would be paid than the least that was asked for',
  ),
  failing(
    'error TellerWithMultiAssetSupport__SharesAreUnLocked()',
    'the time in which the deposit could be given back has passed',
  ),
  failing('error TellerWithMultiAssetSupport__BadDepositHash()', 'the teller knows no such deposit'),
  failing('error AccountantWithRateProviders__Paused()', 'the accountant of the vault is paused', 'closed'),
  failing('error BoringOnChainQueue__Paused()', 'the queue is paused', 'closed'),
  failing(
    'error BoringOnChainQueue__WithdrawsNotAllowedForAsset()',
    'the queue pays no requests in this token at present',
    'closed',
  ),
  failing('error BoringOnChainQueue__BadDiscount()', 'the queue now takes requests at another discount only'),
  failing('error BoringOnChainQueue__BadShareAmount()', 'the queue takes larger requests only', 'tooSmall'),
  failing('error BoringOnChainQueue__BadDeadline()', 'the queue now wants a later deadline'),
  failing('error BoringOnChainQueue__BadUser()', 'only the wallet that made a request may take it back'),
  failing('error BoringOnChainQueue__NotMatured()', 'the request may not be paid yet', 'waiting'),
  failing('error BoringOnChainQueue__DeadlinePassed()', 'the deadline of the request has passed'),
  failing('error BoringOnChainQueue__RequestNotFound()', 'the queue has no such request'),
  failing('error BoringOnChainQueue__ZeroNonce()', 'the queue has no such request'),
  failingText('UNAUTHORIZED', 'the vault does not let this wallet do that', 'closed'),
]
