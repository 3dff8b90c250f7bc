import { failing, type KnownError } from '../../rpc/revert.js'

const noRoom = 'the vault has no room for that much at present'
const noLiquidity = 'the vault cannot pay that much out at present'
const notYours = 'the vault lets this wallet do nothing of the kind'
const zero = 'the amount is too small: it would return nothing'

/** Errors of the most common ERC-4626 vaults, and of the markets below them. */
export const erc4626Errors: readonly KnownError[] = [
  // Metamorpho and its market.
  failing('error AllCapsReached()', noRoom, 'capped'),
  failing('error NotEnoughLiquidity()', noLiquidity, 'capped'),
  failing('error InsufficientLiquidity()', noLiquidity, 'capped'),
  // Morpho Vault V2.
  failing('error AbsoluteCapExceeded()', noRoom, 'capped'),
  failing('error RelativeCapExceeded()', noRoom, 'capped'),
  failing('error ZeroAbsoluteCap()', noRoom, 'capped'),
  failing('error CannotReceiveShares()', notYours, 'closed'),
  failing('error CannotSendShares()', notYours, 'closed'),
  failing('error CannotReceiveAssets()', notYours, 'closed'),
  failing('error CannotSendAssets()', notYours, 'closed'),
  failing('error TransferReverted()', 'the token refused the transfer'),
  failing('error TransferFromReverted()', 'the token refused the transfer'),
  // Euler vaults and Euler Earn.
  failing('error E_SupplyCapExceeded()', noRoom, 'capped'),
  failing('error E_InsufficientCash()', noLiquidity, 'capped'),
  failing('error E_InsufficientBalance()', 'the balance is smaller than what is to be moved'),
  failing('error E_InsufficientAllowance()', 'the spender may take less than what is to be moved'),
  failing('error E_OperationDisabled()', 'the vault has switched this off', 'closed'),
  failing('error E_ZeroShares()', zero, 'tooSmall'),
  failing('error E_ZeroAssets()', zero, 'tooSmall'),
  failing('error E_Reentrancy()', 'the contract was called again from within'),
  failing('error E_AccountLiquidity()', 'the wallet owes something for which these shares stand', 'closed'),
  failing('error ZeroShares()', zero, 'tooSmall'),
  failing('error StaticATokenInvalidZeroShares()', zero, 'tooSmall'),
  failing('error ZeroAssets()', zero, 'tooSmall'),
  failing('error ZeroAmount()', 'the amount is 0', 'tooSmall'),
  // Solady, whose errors name no limits.
  failing('error DepositMoreThanMax()', 'the vault takes less than that of this wallet at present', 'capped'),
  failing('error MintMoreThanMax()', 'the vault gives fewer shares to this wallet at present', 'capped'),
  failing('error WithdrawMoreThanMax()', 'the vault pays less than that to this wallet at present', 'capped'),
  failing('error RedeemMoreThanMax()', 'the vault redeems fewer shares of this wallet at present', 'capped'),
  failing('error TransferFromFailed()', 'the token refused the transfer; its allowance or balance may be too small'),
  failing('error TransferFailed()', 'the token refused the transfer'),
  failing('error InsufficientAllowance()', 'the spender may take less than what is to be moved'),
  failing('error InsufficientBalance()', 'the balance is smaller than what is to be moved'),
  // Staked tokens with a cooldown.
  failing(
    'error OperationNotAllowed()',
    'the vault allows this way out only with, or only without, a cooldown',
    'closed',
  ),
  // Permissioned vaults of many makers.
  failing(
    'error NotWhitelisted(address account)',
    'the vault takes listed wallets only, and this wallet is not listed',
    'closed',
  ),
  failing('error Unauthorized()', notYours, 'closed'),
  failing('error NotAuthorized()', notYours, 'closed'),
  failing('error Paused()', 'the vault is paused', 'closed'),
  failing('error Closed()', 'the vault is closed', 'closed'),
  // Vaults and tokens of a development chain.
  failing('error Shut()', 'the vault takes nothing and gives nothing at present'),
  failing('error WaitsForCooldown()', 'redemptions wait, and this way out gives nothing'),
  failing('error MintsItsYield()', 'the vault mints its yield, so a reserve would never be paid out'),
  failing('error LossExceedsAssets(uint256 assets, uint256 held)', 'the vault holds less than it is to lose'),
  failing('error NotMinter(address caller)', 'only a minter of the token may do this'),
  failing('error PaymentFailed()', 'the native token could not be paid out'),
  failing(
    'error AllowanceNotReset(address spender, uint256 allowance)',
    'the token wants its allowance set to 0 before another one',
  ),
  failing(
    'error InsufficientBalance(address account, uint256 balance, uint256 needed)',
    'the balance is smaller than what is to be moved',
  ),
  failing(
    'error InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
    'the spender may take less than what is to be moved',
  ),
  failing('error InvalidReceiver(address receiver)', 'what is moved cannot go there'),
]
