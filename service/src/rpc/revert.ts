import { type Abi, decodeErrorResult, type Hex, parseAbiItem, size, slice, toFunctionSelector } from 'viem'

/**
 * The meaning of an error for the request: `closed`, the wallet cannot do it at present; `capped`, the amount exceeds a limit;
 * `tooSmall`; `waiting`, possible only after some time or a settlement.
 */
export type ErrorMeaning = 'closed' | 'capped' | 'tooSmall' | 'waiting'

type AbiError = Extract<Abi[number], { type: 'error' }>

/** An error of a contract, and what it means, as a clause after its name. */
export type KnownError = {
  readonly error: AbiError
  /** Its first four bytes. */
  readonly selector: Hex
  /** The text it has to carry, where contracts say everything by `Error(string)`. */
  readonly text?: string
  readonly sentence: string
  readonly means?: ErrorMeaning
}

/** Declares an error and says what it means. */
export function failing(declaration: string, sentence: string, means?: ErrorMeaning): KnownError {
  const error = parseAbiItem(declaration) as AbiError
  const inputs = error.inputs.map(({ type }) => type).join(',')
  const selector = toFunctionSelector(`${error.name}(${inputs})`)
  return { error, selector, sentence, ...(means === undefined ? {} : { means }) }
}

/** Declares a text of `Error(string)`, as `failing` does an error. */
export function failingText(text: string, sentence: string, means?: ErrorMeaning): KnownError {
  return { ...failing('error Error(string reason)', sentence, means), text }
}

/**
 * Errors many contracts share: ERC-6093 tokens, ERC-4626 limits, OpenZeppelin's guards. A limit of ERC-4626 may be 0: the
 * vault's limit for this wallet decides between closed and capped.
 */
export const commonErrors: readonly KnownError[] = [
  failing(
    'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
    'the balance is smaller than what is to be moved',
  ),
  failing(
    'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
    'the spender may take less than what is to be moved',
  ),
  failing('error ERC20InvalidReceiver(address receiver)', 'the token cannot be sent there'),
  failing('error ERC20InvalidSender(address sender)', 'the token cannot be sent from there'),
  failing('error ERC20InvalidApprover(address approver)', 'this address cannot approve'),
  failing('error ERC20InvalidSpender(address spender)', 'this address cannot be approved'),
  failing(
    'error ERC4626ExceededMaxDeposit(address receiver, uint256 assets, uint256 max)',
    'the vault takes at most that much of this wallet at present',
  ),
  failing(
    'error ERC4626ExceededMaxMint(address receiver, uint256 shares, uint256 max)',
    'the vault gives at most that many shares to this wallet at present',
  ),
  failing(
    'error ERC4626ExceededMaxWithdraw(address owner, uint256 assets, uint256 max)',
    'the vault pays at most that much to this wallet at present',
  ),
  failing(
    'error ERC4626ExceededMaxRedeem(address owner, uint256 shares, uint256 max)',
    'the vault redeems at most that many shares of this wallet at present',
  ),
  failing('error SafeERC20FailedOperation(address token)', 'the token refused the transfer'),
  failing(
    'error SafeERC20FailedDecreaseAllowance(address spender, uint256 currentAllowance, uint256 requestedDecrease)',
    'the allowance is smaller than what is taken off it',
  ),
  failing('error AddressEmptyCode(address target)', 'there is no contract at that address'),
  failing('error AddressInsufficientBalance(address account)', 'that address has too little of the native token'),
  failing('error FailedCall()', 'a call of the contract failed'),
  failing('error FailedInnerCall()', 'a call of the contract failed'),
  failing('error InsufficientBalance(uint256 balance, uint256 needed)', 'the contract has less than it would need'),
  failing('error EnforcedPause()', 'the contract is paused', 'closed'),
  failing('error ExpectedPause()', 'the contract is not paused'),
  failing('error OwnableUnauthorizedAccount(address account)', 'only the owner of the contract may do this'),
  failing('error OwnableInvalidOwner(address owner)', 'that address cannot own the contract'),
  failing(
    'error AccessControlUnauthorizedAccount(address account, bytes32 neededRole)',
    'this address lacks a role that the contract asks for',
    'closed',
  ),
  failing('error ReentrancyGuardReentrantCall()', 'the contract was called again from within'),
  failing('error MathOverflowedMulDiv()', 'a number became too large'),
  failing('error SafeCastOverflowedUintDowncast(uint8 bits, uint256 value)', 'a number became too large'),
]

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
const common = new Map(commonErrors.map((known) => [known.selector, known]))

/**
 * Describes a revert in words: the text of `Error(string)`, the meaning of `Panic(uint256)`, or the name, arguments and
 * meaning of a custom error that is in `errors` or common. Never throws.
 */
export function describeRevert(returned: Hex, errors: readonly KnownError[] = []): string {
  if (size(returned) === 0) return 'without a reason'
  if (size(returned) < 4) return 'with data that is no error'
  const known = findError(returned, errors)
  try {
    const { errorName, args } = decodeErrorResult({ abi: known ? [known.error] : [], data: returned })
    const values: readonly unknown[] = args ?? []
    if (known?.text !== undefined) return `with "${known.text}": ${known.sentence}`
    if (known) return `with ${clip(`${errorName}(${values.map(String).join(', ')})`)}: ${known.sentence}`
    if (errorName === 'Error') return `with "${clip(String(values[0] ?? ''))}"`
    return `with a panic: ${panics[String(values[0])] ?? `code ${String(values[0])}`}`
  } catch {
    return `with the custom error ${slice(returned, 0, 4)}, which is not known here`
  }
}

/** The meaning of a revert for the request, if its error is known. */
export function findMeaning(returned: Hex, errors: readonly KnownError[] = []): ErrorMeaning | undefined {
  return findError(returned, errors)?.means
}

function findError(returned: Hex, errors: readonly KnownError[]): KnownError | undefined {
  if (size(returned) < 4) return undefined
  const selector = slice(returned, 0, 4).toLowerCase() as Hex
  const alike = errors.filter((known) => known.selector === selector)
  if (alike.every(({ text }) => text === undefined)) return alike[0] ?? common.get(selector)
  const said = readText(returned)
  return alike.find(({ text }) => text === said)
}

function readText(returned: Hex): string | undefined {
  try {
    return String(decodeErrorResult({ abi: [], data: returned }).args?.[0] ?? '')
  } catch {
    return undefined
  }
}

/** Text of a contract is a stranger's: control characters go, and it is cut. */
function clip(text: string): string {
  const plain = text.replace(/\p{C}/gu, ' ')
  return plain.length > textMax ? `${plain.slice(0, textMax)}…` : plain
}
