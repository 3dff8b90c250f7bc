import { type Abi, decodeErrorResult, type Hex, parseAbi, size, slice } from 'viem'

/** Errors many contracts share: ERC-6093 tokens, ERC-4626 limits, OpenZeppelin's guards. */
const commonErrors = parseAbi([
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  'error ERC20InvalidReceiver(address receiver)',
  'error ERC20InvalidSender(address sender)',
  'error ERC20InvalidApprover(address approver)',
  'error ERC20InvalidSpender(address spender)',
  'error ERC4626ExceededMaxDeposit(address receiver, uint256 assets, uint256 max)',
  'error ERC4626ExceededMaxMint(address receiver, uint256 shares, uint256 max)',
  'error ERC4626ExceededMaxWithdraw(address owner, uint256 assets, uint256 max)',
  'error ERC4626ExceededMaxRedeem(address owner, uint256 shares, uint256 max)',
  'error SafeERC20FailedOperation(address token)',
  'error AddressEmptyCode(address target)',
  'error FailedCall()',
  'error FailedInnerCall()',
  'error InsufficientBalance(uint256 balance, uint256 needed)',
  'error EnforcedPause()',
  'error OwnableUnauthorizedAccount(address account)',
  'error AccessControlUnauthorizedAccount(address account, bytes32 neededRole)',
  'error ReentrancyGuardReentrantCall()',
  // Vaults left by another function after a wait, or that take deposits in one way only, or from listed wallets.
  'error OperationNotAllowed()',
  'error OnlySyncDepositAllowed()',
  'error AddressNotAllowed(address account)',
])

const panics: Record<string, string> = {
  '1': 'an assertion failed',
  '17': 'arithmetic overflow or underflow',
  '18': 'division by zero',
  '33': 'a value outside its enum',
  '34': 'a badly encoded byte array in storage',
  '49': 'pop on an empty array',
  '50': 'an index out of bounds',
  '65': 'too much memory asked for',
  '81': 'a call to an uninitialised function',
}

const textMax = 200

/**
 * What a contract said when it reverted, in words: the text of `Error(string)`, the meaning of `Panic(uint256)`, the
 * name and arguments of a custom error that is common or among `abi`'s, else its selector. Never throws.
 */
export function describeRevert(returned: Hex, abi: Abi = []): string {
  if (size(returned) === 0) return 'without a reason'
  if (size(returned) < 4) return 'with data that is no error'
  const selector = slice(returned, 0, 4)
  const errors = [...abi, ...commonErrors].filter((item) => item.type === 'error')
  try {
    const { errorName, args } = decodeErrorResult({ abi: errors, data: returned })
    const values: readonly unknown[] = args ?? []
    if (errorName === 'Error') return `with "${clip(String(values[0] ?? ''))}"`
    if (errorName === 'Panic') return `with a panic: ${panics[String(values[0])] ?? `code ${String(values[0])}`}`
    return `with ${clip(`${errorName}(${values.map(String).join(', ')})`)}`
  } catch {
    return `with the custom error ${selector}`
  }
}

/** Text of a contract is a stranger's: control characters go, and it is cut. */
function clip(text: string): string {
  const plain = text.replace(/\p{C}/gu, ' ')
  return plain.length > textMax ? `${plain.slice(0, textMax)}…` : plain
}
